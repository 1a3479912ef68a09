"""Compiled functions and modules on tapes: programs with a backward, whose gradients are those of the ops one by one."""
import unittest

import numpy as np
import thunder as th

th.seed(0)  # the same numbers at each run


def arr(*shape, seed=0):
    return th.tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32"))


class Backward(unittest.TestCase):
    def close(self, got, expected):
        for a, b in zip(got, expected):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-5, atol=2e-6)

    def step(self, f, net, x):
        with th.tape():
            loss = (f(x) ** 2).mean()
            return [loss, *th.grad_of(loss, list(net.parameters()))]

    def test_of_a_module_is_that_of_its_ops(self):
        net = th.nn.Sequential(th.nn.Linear(5, 7), th.nn.LayerNorm(7), th.nn.GELU(), th.nn.Linear(7, 3))
        compiled, x = th.compile(net), arr(4, 5)
        self.close(self.step(compiled, net, x), self.step(net, net, x))
        self.assertEqual(th.stats(compiled)["misses"], 1)
        self.assertEqual(th.stats(compiled)["eager_calls"], 0)

    def test_of_a_module_that_draws_and_counts(self):
        net = th.nn.Sequential(th.nn.Linear(5, 7), th.nn.BatchNorm1d(7), th.nn.Dropout(0.5), th.nn.Linear(7, 3))
        compiled, x = th.compile(net), arr(4, 5)
        before = {name: value.clone() for name, value in net.state_dict().items()}
        th.manual_seed(1)
        expected = self.step(net, net, x)
        mean = net[1].running_mean.numpy().copy()
        th.manual_seed(1)
        net.load_state_dict(before)
        self.close(self.step(compiled, net, x), expected)
        np.testing.assert_allclose(net[1].running_mean.numpy(), mean, rtol=1e-5, atol=1e-6)
        self.assertEqual(net[1].num_batches_tracked.item(), 1)

    def test_is_compiled_for_the_gradients_that_are_asked_for(self):
        f = th.compile(lambda x, w: th.linear(x, w).tanh().sum())
        x, w = arr(4, 5), arr(3, 5)
        with th.tape():
            loss = f(x, w)
            th.grad_of(loss, [w])
            one = th.last_backward_traces(f)[0]
            th.grad_of(loss, [x, w])
            both = th.last_backward_traces(f)[0]
        self.assertEqual(str(one).count("matmul"), 1)
        self.assertEqual(str(both).count("matmul"), 2)

    def test_accumulates_over_calls(self):
        f = th.compile(lambda x, scale: (x * x * scale).sum())
        x = arr(3)
        with th.tape():
            total = sum(f(x, scale) for scale in (1.0, 2.0, 3.0))
            self.close(th.grad_of(total, [x]), [12 * x])
        self.assertEqual(th.stats(f)["misses"], 1)

    def test_of_value_and_grad_is_compiled(self):
        f = th.compile(lambda x: {"loss": x}["loss"].exp().sum())
        value, gradient = th.value_and_grad(f)(arr(3))
        self.close([gradient], [arr(3).exp()])
        self.assertEqual(len(th.last_backward_traces(f)) > 1, True)

    def test_gives_trees(self):
        f = th.compile(lambda d: {"a": d["x"] * 2, "b": [d["y"] + 1, 5, None]})
        x, y = arr(3), arr(3, seed=1)
        with th.tape():
            out = f({"x": x, "y": y})
            self.assertEqual(out["b"][1:], [5, None])
            self.close(th.grad_of((out["a"] * out["b"][0]).sum(), [x, y]), [2 * (y + 1), 2 * x])

    def test_runs_op_by_op_where_the_function_reads_values(self):
        def f(x):
            return x * 2 if x.sum().item() > 0 else x * 3
        compiled = th.compile(f)
        for value, slope in ((1.0, 2.0), (-1.0, 3.0)):
            x = th.full([2], value)
            with th.tape():
                self.close(th.grad_of(compiled(x).sum(), [x]), [[slope, slope]])
        self.assertEqual(th.last_backward_traces(compiled), [])

    def test_gives_none_to_what_no_result_depends_on(self):
        x, y = th.ones(3).requires_grad_(), th.ones(3).requires_grad_()
        f = th.compile(lambda x, y: (x * 2, y * 3))
        with th.tape():
            first, _ = f(x, y)
            first.sum().backward()
        self.assertEqual(x.grad.tolist(), [2, 2, 2])
        self.assertIsNone(y.grad)

    def test_passes_by_what_the_function_writes_and_the_loss_does_not_read(self):
        def f(x, y):
            y.zero_()
            return x * 2
        x, y = th.ones(3).requires_grad_(), th.ones(3).requires_grad_()
        with th.tape():
            th.compile(f)(x, y).sum().backward()
        self.assertEqual((x.grad.tolist(), y.grad), ([2, 2, 2], None))

    def test_draws_what_the_function_draws_op_by_op(self):
        def last(x):
            th.rand(3)                        # for nobody, but the next numbers are others
            return x * th.rand(3)

        def nothing(x):
            th.rand(3)
            return x * 2
        for f in (last, nothing):
            drawn = []
            for way in (f, th.compile(f), th.compile(th.value_and_grad(lambda x: f(x).sum())), th.value_and_grad(th.compile(lambda x: f(x).sum()))):
                th.seed(3)
                with th.tape():
                    made = way(th.ones(3))
                drawn.append((float((made[0] if isinstance(made, tuple) else made.sum()).item()), th.rand(1).item()))
            for one in drawn:
                self.assertAlmostEqual(one[0], drawn[0][0], places=5)
                self.assertEqual(one[1], drawn[0][1])

    def test_results_have_memory_of_their_own_where_a_tape_runs_it_op_by_op(self):
        def f(x):
            x.mul_(2)
            return x, x[1:]
        x = th.ones(3)
        with th.tape():
            whole, rest = th.compile(f)(x)
        x.zero_()
        self.assertEqual((whole.tolist(), rest.tolist()), ([2, 2, 2], [2, 2]))
        rest.zero_()
        self.assertEqual(whole.tolist(), [2, 2, 2])

    def test_of_sizes_that_vary_and_that_nothing_it_reads_has(self):
        f = th.compile(lambda x: x.sum(0) * x.shape[1])
        for n in (4, 6, 5, 7):
            x = th.ones(n, 3).requires_grad_()
            with th.tape():
                f(x).sum().backward()
            self.assertEqual(x.grad.tolist(), [[3.0] * 3] * n)

    def test_of_a_saved_trace(self):
        f = th.compile(lambda x: x.exp())
        f(arr(3))
        g = th.function_from_trace(th.last_traces(f)[0])
        x = arr(3)
        with th.tape():
            self.close(th.grad_of(g(x).sum(), [x]), [x.exp()])

    def test_an_error_of_the_function_is_its_own(self):
        calls = []

        def f(x):
            calls.append(1)
            raise ValueError("mine")
        with self.assertRaisesRegex(ValueError, "mine"), th.tape():
            th.compile(f)(arr(3))
        self.assertEqual(len(calls), 1)

    def test_what_has_no_gradient_is_refused_where_one_is_asked_for(self):
        f, x, w = th.compile(lambda x, w: (th.zeta(x, x) * 2, w * 3)), th.tensor([2.5]), th.tensor([1.0])
        with th.tape():
            self.close(f(x, w), [th.zeta(x, x) * 2, w * 3])
            self.close(th.grad_of(f(x, w)[1].sum(), [w]), [th.tensor([3.0])])
        with self.assertRaisesRegex(th.Error, "has no gradient in its first argument"), th.tape():
            th.grad_of(f(x, w)[0].sum(), [x])

    def test_a_call_that_fails_has_drawn_nothing(self):
        def f(x, at):
            x.detach().mul_(2)
            return x * th.randperm(3), x.index_select(0, at)
        compiled, before = th.compile(f), th.get_rng_state().tolist()
        for x in (th.ones(3), th.ones(3).requires_grad_()):
            with self.assertRaises(IndexError), th.tape():
                compiled(x, th.tensor([99]))
            self.assertEqual((th.get_rng_state().tolist(), x.tolist()), (before, [1, 1, 1]))

    def test_a_call_that_fails_has_written_nothing(self):
        def whole(x, w):
            x *= 2
            return x.index_select(0, w)

        def part(x, w):
            x[1:].add_(1)
            x.t()[0].zero_()
            return x.index_select(0, w)
        for f in (whole, part):
            x, compiled = arr(3, 2), th.compile(f)
            for _ in range(2):
                before = x.tolist()
                with self.assertRaises(IndexError), th.tape():
                    y = x * 2
                    y.add_(1)
                    compiled(x, th.tensor([3]))
                self.assertEqual([x.tolist(), y.tolist()], [before, (x * 2 + 1).tolist()])


if __name__ == "__main__":
    unittest.main()
