"""Tensors that a compiled function makes of data of the host are new at each call, wherever it writes or keeps them."""
import array
import unittest

import numpy as np
import thunder as th
from thunder import nn

ZEROS = [0.0, 0.0, 0.0]
kept = None


class Exporter:
    """Another library's tensor: with DLPack alone."""

    def __init__(self):
        self.memory = np.zeros(3, np.float32)

    def __dlpack__(self, **options):
        return self.memory.__dlpack__()

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()


MAKERS = {
    "a list": lambda: th.tensor(ZEROS), "a list, another dtype": lambda: th.tensor([0, 0, 0], dtype=th.float32), "as_tensor": lambda: th.as_tensor(ZEROS),
    "an array": lambda: th.tensor(np.zeros(3, np.float32)), "an array that has strides": lambda: th.tensor(np.zeros(6, np.float32)[::2]),
    "a buffer": lambda: th.tensor(array.array("f", ZEROS)), "DLPack": lambda: th.tensor(Exporter()), "bfloat16": lambda: th.tensor(ZEROS, dtype=th.bfloat16),
    "a row of two": lambda: th.tensor([ZEROS, ZEROS])[0], "a parameter": lambda: nn.Parameter(th.tensor(ZEROS)),
    "parts": lambda: th.tensor([th.tensor(0.0), 0.0, 0.0]), "zeros": lambda: th.zeros(3), "full": lambda: th.full((3,), 0.0), "empty": lambda: th.empty(3).zero_(),
    "a buffer of a layer": lambda: nn.BatchNorm1d(3).running_mean, "an attribute": lambda: Holder().tensor,
}


class Holder:
    def __init__(self):
        self.tensor = th.tensor(ZEROS)


def iadd(t, x):
    t += x
    return t


WRITES = {
    "add_": lambda t, x: t.add_(1), "+=": iadd, "an item": lambda t, x: t.__setitem__(0, t[0] + 1), "a view": lambda t, x: t[1:].add_(x[1:]),
    "copy_": lambda t, x: t.copy_(t + x), "twice": lambda t, x: t.add_(1).mul_(2), "fill_": lambda t, x: t.fill_(0).add_(x), "nothing": lambda t, x: None,
}


def three(f):
    return [[t.tolist() for t in th.tree_leaves(f(th.ones(3)))] for _ in range(3)]


class LocalTensors(unittest.TestCase):
    def alike(self, f, ways=({}, {"fullgraph": False}, {"dynamic": True})):
        wanted = three(f)
        for options in ways:
            self.assertEqual(three(th.compile(f, **options)), wanted, options)
        return wanted

    def test_are_new_at_each_call_wherever_they_are_written(self):
        for made, make in MAKERS.items():
            for written, write in WRITES.items():
                def f(x):
                    t = make()
                    write(t, x)
                    return x * t, t
                with self.subTest(made=made, written=written):
                    wanted = self.alike(f)
                    self.assertEqual(wanted, [wanted[0]] * 3)

    def test_are_new_where_gradients_are_taken(self):
        for written, write in WRITES.items():
            def loss(x):
                t = th.tensor(ZEROS)
                write(t, x.detach())
                return (x * t).sum()
            for take in (th.grad, th.func.grad, lambda f: lambda x: th.value_and_grad(f)(x)[1], lambda f: th.vmap(th.grad(lambda x: f(th.stack([x, x, x]))))):
                with self.subTest(written):
                    self.alike(take(loss), ({}, {"fullgraph": False}))

    def test_count_totals_of_numbers(self):
        def total(x):
            t, n = th.tensor(0.0), th.tensor(0)
            for _ in range(2):
                t += x.sum()
                n += 1
            return t, n
        self.assertEqual(self.alike(total), [[6.0, 2]] * 3)

    def test_that_are_kept_are_other_ones_at_each_call(self):
        for options in ({}, {"fullgraph": False}):
            log, table, module = [], {}, nn.Identity()

            def f(x):
                global kept
                t = th.tensor(ZEROS)
                t += x
                log.append(t)
                table["t"], module.t, kept = t, t * 1, th.tensor([1.0])
                return t
            g = th.compile(f, **options)
            for _ in range(3):
                g(th.ones(3)).zero_()
                kept.add_(1)
            log[0].fill_(9)
            self.assertEqual([t.tolist() for t in log[1:]], [[1, 1, 1]] * 2)
            self.assertEqual((table["t"].tolist(), module.t.tolist(), kept.tolist()), ([1, 1, 1], [1, 1, 1], [2]))

    def test_that_are_made_once_and_kept_are_state(self):
        class Cache(nn.Module):
            def __init__(self):
                super().__init__()
                self.total = None

            def forward(self, x):
                if self.total is None:
                    self.total = th.tensor(ZEROS)
                self.total += x
                return self.total * 1
        self.assertEqual(three(th.compile(Cache())), three(Cache()))

    def test_of_layers_and_optimisers_made_inside_begin_anew(self):
        def normed(x):
            layer = nn.BatchNorm1d(3)
            layer(x.reshape(1, 3).expand(4, 3) * 2)
            return layer.running_mean * 1, layer.num_batches_tracked * 1

        def trained(x):
            p = th.tensor(ZEROS)
            optimiser = th.optim.Adam([p], lr=1.0)
            optimiser.step([x]), optimiser.step([-x * 0.1])
            return p

        def by_momentum(x):
            p = th.tensor(ZEROS)
            optimiser = th.optim.SGD([p], lr=1.0, momentum=0.9)
            optimiser.step([x]), optimiser.step([x])
            return p
        for f in (normed, trained, by_momentum):
            wanted = self.alike(f)
            self.assertEqual(wanted, [wanted[0]] * 3)

    def test_in_reference_cycles_are_new_all_the_same(self):
        def f(x):
            holder = Holder()
            holder.itself = holder
            holder.tensor.add_(1)
            return x * holder.tensor
        self.alike(f)

    def test_that_were_there_before_are_written_at_each_call(self):
        state = th.tensor(ZEROS)

        def f(x):
            state.add_(x)
            return state * 1
        g = th.compile(f)
        self.assertEqual([g(th.ones(3)).tolist() for _ in range(3)], [[1, 1, 1], [2, 2, 2], [3, 3, 3]])

    def test_that_were_written_have_no_elements_to_be_read(self):
        def f(x):
            t = th.tensor(0.0)
            t.add_(1)
            return x * float(t)
        with self.assertRaisesRegex(th.Error, "was written by .* while it is traced, and is read here"):
            th.compile(f)(th.ones(2))
        self.assertEqual(th.compile(f, fullgraph=False)(th.ones(2)).tolist(), [1, 1])
        self.assertEqual(th.compile(lambda x: x * float(th.tensor(3.0)))(th.ones(2)).tolist(), [3, 3])


class Arrays(unittest.TestCase):
    def alike(self, f):
        wanted = three(f)
        for options in ({}, {"fullgraph": False}, {"dynamic": True}):
            self.assertEqual(three(th.compile(f, **options)), wanted, options)

    def test_are_read_when_a_tensor_is_made_of_them(self):
        def copies(x):
            a, out = np.zeros(3, np.float32), []
            for k in range(3):
                a[k] = k + 1
                out.append(th.tensor(a) * x)
            return out

        def operands(x):
            a = np.zeros(3, np.float32)
            y = x + a
            a += 1
            z = a * x
            a += 1
            return y, z, th.add(x, a), th.cat([x, th.tensor(a[1:])])

        def slices(x):
            a = np.zeros((2, 3), np.float32)
            y = x + a[1]
            a[1] = 5
            return y, x + a[1]
        for f in (copies, operands, slices):
            self.alike(f)

    def test_that_are_captured_stay_those_of_each_call(self):
        a = np.ones(3, np.float32)
        holder = Holder()
        holder.table = {"a": a}
        for read in (lambda x: th.tensor(a) * x, lambda x: x + a, lambda x: th.tensor(holder.table["a"][1:]).sum() * x, lambda x: x * th.from_numpy(a)):
            a[:] = 1
            f = th.compile(read)
            f(th.ones(3))
            a[:] = 7
            self.assertEqual(f(th.ones(3)).tolist(), read(th.ones(3)).tolist())

    def test_that_no_name_leads_to_are_compared(self):
        a = np.ones(3, np.float32)

        class Hidden:
            __slots__ = ("_items",)

            def __init__(self):
                self._items = iter(())

            def __call__(self):
                return a
        find = [Hidden()].__iter__().__next__()
        f = th.compile(lambda x: x + find())
        self.assertEqual(f(th.ones(3)).tolist(), [2, 2, 2])
        a[:] = 5
        self.assertEqual(f(th.ones(3)).tolist(), [6, 6, 6])

    def test_whose_memory_is_the_functions_own_are_read_alone(self):
        def written(x):
            return th.from_numpy(np.zeros(3, np.float32)).add_(x)

        def written_by_numpy(x):
            a = np.zeros(3, np.float32)
            t = th.from_numpy(a)
            a += 1
            return t * x
        with self.assertRaisesRegex(th.Error, "memory is read-only: write into a clone"):
            th.compile(written)(th.ones(3))
        with self.assertRaisesRegex(TypeError, "an array was written after from_numpy"):
            th.compile(written_by_numpy)(th.ones(3))
        self.alike(lambda x: th.from_numpy(np.arange(3, dtype=np.float32)) * x)
        shared = np.zeros(3, np.float32)
        f = th.compile(lambda x: th.from_numpy(shared).add_(x) * 1)
        self.assertEqual([f(th.ones(3)).tolist() for _ in range(2)], [[1, 1, 1], [2, 2, 2]])
        self.assertEqual(shared.tolist(), [2, 2, 2])

    def test_that_numpy_reads_as_well_are_compared(self):
        a = np.ones(3, np.float32)
        table = {"a": a}

        def halves(x):
            t = th.from_numpy(a)
            return t * x + float(a.sum())

        def of_a_helper(x):
            def given(array):
                return array
            return th.tensor(given(a)) * x + given(
                a)[1:].max()

        def of_a_table(x):
            return th.from_numpy(table["a"]) * x + float(table["a"][1])
        for f in (halves, of_a_helper, of_a_table):
            a[:] = 1
            compiled = th.compile(f)
            for number in (1, 7):
                a[:] = number
                self.assertEqual(compiled(th.ones(3)).tolist(), f(th.ones(3)).tolist())

    def test_that_numpy_reads_are_not_written_by_the_function(self):
        a = np.zeros(3, np.float32)
        outside = th.from_numpy(a)
        held = Holder()
        held.table = {"a": a}

        def after(x):
            t = th.from_numpy(a)
            t.copy_(x)
            return x + float(a[1:].sum())

        def before(x):
            first = float(a[0])
            th.from_numpy(a).copy_(x)
            return x + first

        def through_a_captured_tensor(x):
            outside.copy_(x)
            return x + float(a[1:].sum())

        def of_an_object(x):
            th.from_numpy(held.table["a"]).copy_(x)
            return x + float(held.table["a"][1])
        for f in (after, before, through_a_captured_tensor, of_an_object):
            with self.assertRaisesRegex(TypeError, r"numpy reads elements of .* at .*local_tensors_test.py:\d+ in a compiled function that writes"):
                th.compile(f)(th.ones(3))
        self.assertEqual(a.tolist(), [0, 0, 0])

    def test_that_only_tensors_read_are_written(self):
        a = np.zeros(3, np.float32)

        def lent(array):
            return th.from_numpy(
                array)

        def f(x):
            same = a
            t = lent(same)
            t.add_(x)
            return t * len(x) + t.shape[0] + a.shape[0]
        compiled = th.compile(f)
        self.assertEqual([compiled(th.ones(3)).tolist() for _ in range(2)], [[9, 9, 9], [12, 12, 12]])
        self.assertEqual((a.tolist(), th.stats(compiled)["misses"]), ([2, 2, 2], 1))


if __name__ == "__main__":
    unittest.main()
