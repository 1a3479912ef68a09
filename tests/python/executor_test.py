"""Kernels and executors written in Python."""
import gc
import re
import threading
import unittest
import weakref

import numpy as np

import thunder as th


def last(function):
    return str(th.last_traces(function)[-1])


@th.op("median_py(tensor x, float scale=1.0) -> tensor", meta=lambda line: (line.inputs[0].dtype, ()), not_differentiable=True)
def median(x, scale):
    """The middle one."""
    return np.median(x) * np.float32(scale)


@th.op("mine.min_max_py(tensor x, int dim) -> (tensor, tensor)",
       meta=lambda line: ((th.float32, line.inputs[0].shape[:line.args["dim"]] + line.inputs[0].shape[line.args["dim"] + 1:]),) * 2,
       vjp=lambda ctx, least, greatest: (
           sum((ctx.args[0] == value.unsqueeze(1)).to(th.float32) * g.unsqueeze(1) for value, g in zip(ctx.results, (least, greatest))),
           None))
def min_max(x, dim):
    return x.numpy().min(dim), x.numpy().max(dim)


class Kernels(unittest.TestCase):
    x = th.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])

    def test_run_eagerly_and_compiled(self):
        self.assertEqual(median(self.x).item(), 3.5)
        f = th.compile(lambda x: median(x * 2, 0.5) + 1)
        self.assertEqual(f(self.x).item(), 4.5)
        self.assertIn("median_py(", last(f))
        self.assertEqual([y.tolist() for y in th.compile(lambda x: min_max(x, 1))(self.x)], [[1, 4], [3, 6]])

    def test_have_the_gradient_that_they_are_given(self):
        gradient = th.compile(th.grad(lambda x: (min_max(x, 1)[0] * 10 + min_max(x, 1)[1]).sum()))
        self.assertEqual(gradient(self.x).tolist(), [[1, 10, 0], [1, 0, 10]])
        self.assertEqual(th.grad(lambda x: median(x) + x.sum())(self.x).tolist(), [[1, 1, 1], [1, 1, 1]])  # none: a constant

    def test_that_lie_about_their_types_are_refused(self):
        @th.op("lies_py(tensor x) -> tensor", meta=lambda line: line.inputs[0])
        def lies(x):
            return x.sum()
        with self.assertRaisesRegex(ValueError, r"lies_py: result 1 of its kernel is float32\[\], the op's meta says float32\[2, 3\]"):
            th.compile(lambda x: lies(x))(self.x)

    def test_that_give_too_many_results_or_other_things_are_refused(self):
        @th.op("two_py(tensor x) -> tensor", meta=lambda line: line.inputs[0])
        def two(x):
            return x, x
        with self.assertRaisesRegex(ValueError, "two_py: its kernel gives 2 results, the op has 1"):
            two(self.x)

        @th.op("text_py(tensor x) -> tensor", meta=lambda line: line.inputs[0])
        def text(x):
            return "no tensor"
        with self.assertRaisesRegex(TypeError, "text_py: result 1 of its kernel must be a tensor or an array: .*str"):
            text(self.x)

    def test_raise_their_own_exceptions_also_in_meta(self):
        class Mine(Exception):
            pass

        def fail(line):
            raise Mine("in meta")

        @th.op("meta_fails_py(tensor x) -> tensor", meta=fail)
        def first(x):
            return x

        @th.op("kernel_fails_py(tensor x) -> tensor", meta=lambda line: line.inputs[0])
        def second(x):
            raise Mine("in the kernel")
        for op in (first, second):
            for call in (op, th.compile(lambda x, op=op: op(x))):
                with self.assertRaises(Mine):
                    call(self.x)

    def test_keep_what_they_are_given(self):
        kept = []

        @th.op("keeps_py(tensor x) -> tensor", meta=lambda line: line.inputs[0])
        def keeps(x):
            kept.append(x)
            return x
        f = th.compile(lambda x: keeps(x * 2) * 3)
        f(th.ones(2)), f(th.zeros(2))
        self.assertEqual([x.tolist() for x in kept], [[2, 2], [0, 0]])


class Executors(unittest.TestCase):
    def test_run_what_they_implement(self):
        mine = th.executor("mine_py")

        @mine.implements("gelu")
        def gelu(x, approximate):
            self.assertEqual(approximate, "tanh")
            return x * 2

        @mine.implements(th.softmax, checker=lambda line: line.inputs[0].dtype is th.float32 and line.args["dim"] == -1)
        def softmax(x, dim, dtype=None):
            e = np.exp(x.numpy())
            return e / e.sum(dim, keepdims=True)
        f = th.compile(lambda x: th.softmax(th.gelu(x, "tanh"), -1), executors=[mine, "fusion"])
        x = th.tensor([[0.0, 1.0], [2.0, -1.0]])
        np.testing.assert_allclose(f(x).numpy(), th.softmax(x * 2, -1).numpy(), rtol=1e-6)
        self.assertEqual(last(f).count("by mine_py"), 2)
        g = th.compile(lambda x: th.softmax(x, 0), executors=[mine, "fusion"])
        g(x)
        self.assertNotIn("by mine_py", last(g))
        h = th.compile(lambda x: th.gelu(x))
        h(x)
        self.assertNotIn("by mine_py", last(h))

    def test_get_numbers_lists_and_absent_tensors_in_their_places(self):
        mine, seen = th.executor("places_py"), []
        for name in ("add", "clamp", "cat", "layer_norm"):
            @mine.implements(name)
            def kernel(*args):
                seen.append([th.is_tensor(a) or a for a in args])
                return args[0] if th.is_tensor(args[0]) else np.concatenate(args[0])
        x = th.ones(2, 2)
        for function in (lambda x: th.add(x, 2.0), lambda x: th.clamp(x, None, x), lambda x: th.cat([x, x]),
                         lambda x: th.layer_norm(x, [2], None, x[0])):
            th.compile(function, executors=[mine])(x)
        self.assertEqual(seen[:2] + seen[3:], [[True, 2.0, 1], [True, None, True], [True, [2], None, True, 1e-5]])
        self.assertEqual(len(seen[2][0]), 2)

    def test_prepare_once_and_may_decline(self):
        mine, prepared = th.executor("prepares_py"), []

        @mine.implements("exp", prepare=True)
        def exp(line):
            prepared.append(line.where)
            return (lambda x: x * 5) if line.inputs[0].shape == (2,) else None
        f = th.compile(th.exp, executors=[mine])
        f(th.ones(2)), f(th.zeros(2))
        self.assertEqual((f(th.ones(2)).tolist(), len(prepared)), ([5, 5], 1))
        self.assertEqual(f(th.zeros(3)).tolist(), [1, 1, 1])

    def test_bring_their_own_backward(self):
        @th.op("mine.tanh_backward_py(tensor y, tensor g) -> tensor", meta=lambda line: line.inputs[0])
        def backward(y, g):
            return g * 1000

        @th.op("mine.tanh_py(tensor x) -> tensor", meta=lambda line: line.inputs[0], vjp=lambda ctx, g: backward(ctx.results[0], g))
        def forward(x):
            return x.tanh()
        pair = th.executor("pair_py")

        @pair.replaces("tanh", checker=lambda line: line.inputs[0].dtype is th.float32)
        def replace(line, x):
            return forward(x)
        f = th.compile(th.grad(lambda x: x.tanh().sum()), executors=[pair])
        self.assertEqual(f(th.ones(2)).tolist(), [1000, 1000])
        self.assertIn("mine.tanh_backward_py", last(f))

    def test_take_regions(self):
        regions = []

        def prepare(region):
            if region.op != "region":
                return None
            regions.append(len(region.lines))

            def run(*inputs):
                values = dict(zip(region.input_values, inputs))
                for line in region.lines:
                    a, b = (values[v] for v in line.input_values)
                    values[line.output_values[0]] = a + b if line.op == "prims.add" else a * b
                return tuple(values[v] for v in region.output_values)
            return run
        fusing = th.executor("fusing_py", claim=lambda line: line.op in ("prims.add", "prims.mul"),
                             claim_region=lambda lines: range(len(lines)), prepare=prepare)
        f = th.compile(lambda a, b: (a + b) * b + a, executors=[fusing, "host"])
        x = th.tensor([1.0, 2.0, 3.0])
        self.assertEqual(f(x, x).tolist(), [3, 10, 21])
        self.assertEqual(regions, [3])

    def test_raise_what_their_functions_raise(self):
        class Mine(Exception):
            pass

        def fail(*args):
            raise Mine(args)
        claims, prepares, runs, regions = (th.executor(name) for name in ("claims_py", "prepares2_py", "runs_py", "regions_py"))
        claims.implements("exp", checker=fail)(lambda x: x)
        prepares.implements("exp", prepare=True)(fail)
        runs.implements("exp")(fail)
        regions = th.executor("regions_py", claim=lambda line: True, claim_region=fail, prepare=lambda line: None)
        transforms = th.executor("transforms_py")
        transforms.replaces("exp")(fail)
        for executor in (claims, prepares, runs, regions, transforms):
            with self.assertRaises(Mine, msg=executor.name):
                th.compile(lambda x: th.exp(x) * th.exp(x * 2), executors=[executor])(th.ones(2))
        self.assertEqual(th.compile(lambda x: x + 1)(th.ones(1)).tolist(), [2])

    def test_that_make_no_sense_are_refused(self):
        mine = th.executor("refused_py")
        with self.assertRaisesRegex(ValueError, "there is no op 'gelo'.*did you mean 'gelu'"):
            mine.implements("gelo")
        with self.assertRaisesRegex(th.Error, "unknown executor 'refused_py'"):
            th.compile(th.exp, executors=["refused_py"])
        for given in ([7], [-1], ["one"], True):
            wrong = th.executor("positions_py", claim=lambda line: True, claim_region=lambda lines: given, prepare=lambda line: None)
            said = f"executor 'positions_py': its claim_region gives {given!r}; it must be positions from 0 to 1, as a list"
            with self.assertRaisesRegex(ValueError, re.escape(said)):
                th.compile(lambda x: th.exp(x) + x, executors=[wrong])(th.ones(2))
        prepares = th.executor("prepares_what_py")
        prepares.implements("exp", prepare=True)(lambda line: 3)
        with self.assertRaisesRegex(TypeError, "executor 'prepares_what_py': its prepare gives 3 for exp, not a function"):
            th.compile(th.exp, executors=[prepares])(th.ones(2))
        mine.implements("exp")(lambda x: x.sum())
        with self.assertRaisesRegex(ValueError, r"exp: result 1 of its kernel is float32\[\]"):
            th.compile(th.exp, executors=[mine])(th.ones(2))

    def test_that_are_registered_have_a_name(self):
        mine = th.executor("named_py", register=True)
        mine.implements("exp")(lambda x: x * 3)
        self.assertEqual(th.compile(th.exp, executors="named_py,host")(th.ones(1)).tolist(), [3])
        self.assertIn("named_py", th.executors())
        with self.assertRaisesRegex(th.Error, "executor 'named_py' is already registered"):
            th.executor("named_py", register=True)

    def test_call_ops_and_compiled_functions(self):
        inner = th.compile(lambda x: x * 2 + 1)
        mine = th.executor("calls_py")
        mine.implements("exp")(lambda x: inner(x) + th.ones(2))
        f = th.compile(lambda x: th.exp(x) * 2, executors=[mine])
        self.assertEqual(f(th.ones(2)).tolist(), [8, 8])
        with th.tape():
            x = th.ones(2)
            loss = (x * f(x)).sum()
            self.assertEqual(th.grad_of(loss, x).shape, (2,))

    def test_run_on_many_threads(self):
        mine, wrong = th.executor("threads_py"), []
        mine.implements("exp")(lambda x: x.numpy() * 2 + np.float32(th.ones(1).item()))
        f = th.compile(lambda x, y: th.exp(x) + th.exp(y) * 10, executors=[mine])

        def work(number):
            for i in range(50):
                x = th.full([3], float(number * 100 + i))
                if f(x, x).tolist() != [11 * (2 * x[0].item() + 1)] * 3:
                    wrong.append((number, i))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_live_as_long_as_what_was_compiled_with_them(self):
        def make():
            mine = th.executor("lives_py")
            token = type("Token", (), {})()
            mine.implements("exp")(lambda x, token=token: x * 7)
            f = th.compile(lambda x: th.exp(x), executors=[mine])
            mine.implements("tanh")(lambda x: f(x))  # a cycle through what it runs
            return f, weakref.ref(token), weakref.ref(mine)
        f, token, mine = make()
        gc.collect()
        self.assertEqual(f(th.ones(1)).tolist(), [7])
        self.assertIsNotNone(token())
        del f
        gc.collect()
        self.assertIsNone(token())


if __name__ == "__main__":
    unittest.main()
