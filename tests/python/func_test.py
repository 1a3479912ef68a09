"""th.func: transforms compose with each other, with gradients and with compile, and say what is wrong."""
import tempfile
import unittest

import numpy as np
import thunder as th
from thunder.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap

th.seed(0)  # the same numbers at each run


def arr(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


class Vmap(unittest.TestCase):
    def close(self, got, expected, tolerance=1e-6):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=tolerance, atol=tolerance)

    def test_is_a_loop_over_the_batch(self):
        x, w = arr(5, 3), arr(3, 4)
        self.close(vmap(lambda v: th.softmax(v @ w, 0))(x), np.stack([np.asarray(th.softmax(th.tensor(v) @ w, 0)) for v in x]))

    def test_takes_dims_that_are_not_the_first(self):
        x, y = arr(3, 5), arr(3)
        got = vmap(lambda a, b: a * b, in_dims=(1, None), out_dims=1)(x, y)
        self.close(got, x * y[:, None])

    def test_takes_trees_and_names(self):
        x = arr(4, 2)
        got = vmap(lambda d, scale: {"sum": d["x"].sum() * scale, "both": (d["x"], d["y"])}, in_dims=({"x": 0, "y": None}, None))(
            {"x": th.tensor(x), "y": th.tensor(x[0])}, 2.0)
        self.close(got["sum"], x.sum(1) * 2)
        self.close(got["both"][1], np.stack([x[0]] * 4))
        self.close(vmap(lambda a, *, b: a + b)(x, b=th.tensor(x)), 2 * x)

    def test_nests(self):
        x, y = arr(3, 4), arr(5, 4)
        got = vmap(vmap(lambda a, b: (a * b).sum(), in_dims=(None, 0)), in_dims=(0, None))(x, th.tensor(y))
        self.close(got, x @ y.T)

    def test_compiles(self):
        x, w = arr(5, 3), arr(3, 4)
        f = th.compile(lambda x, w: vmap(lambda v: th.tanh(v @ w))(x))
        self.close(f(x, w), np.tanh(x @ w))
        self.close(f(x + 1, w), np.tanh((x + 1) @ w))
        self.assertEqual(th.stats(f)["entries"], 1)

    def test_gives_the_gradient_of_each_example(self):
        w, x, y = arr(3), arr(6, 3), arr(6)

        def loss(w, x, y):
            return ((w * x).sum() - y) ** 2
        expected = 2 * ((x @ w) - y)[:, None] * x
        each = vmap(grad(loss), in_dims=(None, 0, 0))
        self.close(each(w, x, y), expected)
        self.close(th.compile(each)(w, x, y), expected)

    def test_differentiates_through(self):
        x = arr(4, 3)
        self.close(th.grad(lambda x: vmap(lambda v: (v ** 3).sum())(x).sum())(x), 3 * x ** 2)

    def test_counts_networks_of_an_ensemble(self):
        net = th.nn.Sequential(th.nn.Conv2d(1, 2, 3), th.nn.ReLU(), th.nn.Flatten(0), th.nn.Linear(8, 3))
        x = th.randn(5, 1, 4, 4)
        self.close(vmap(net)(x), th.stack([net(one) for one in x.unbind(0)]), 1e-5)

    def test_runs_in_chunks(self):
        x = arr(7, 2)
        self.close(vmap(lambda v: v.cumsum(0), chunk_size=3)(x), x.cumsum(1))

    def test_random_ops_ask_which_numbers(self):
        x = th.zeros(3, 100)
        with self.assertRaisesRegex(th.Error, 'randomness="different"'):
            vmap(lambda v: v + th.rand(100))(x)
        same = np.asarray(vmap(lambda v: v + th.rand(100), randomness="same")(x))
        different = np.asarray(vmap(lambda v: v + th.rand(100), randomness="different")(x))
        self.assertTrue((same[0] == same[1]).all())
        self.assertFalse((different[0] == different[1]).any())

    def test_mistakes_name_the_argument(self):
        with self.assertRaisesRegex(th.Error, r"dim 0 of argument '1' has 4 examples, that of '0' has 3"):
            vmap(lambda a, b: a)(th.ones(3), th.ones(4))
        with self.assertRaisesRegex(th.Error, "is 0-d"):
            vmap(lambda a: a)(th.tensor(1.0))
        with self.assertRaisesRegex(ValueError, "no tensor but str"):
            vmap(lambda a, b: a)(th.ones(3), "x")
        with self.assertRaisesRegex(th.Error, "differs between examples"):
            vmap(lambda a: a, out_dims=None)(th.ones(3))
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            def raises(a):
                raise ZeroDivisionError("mine")
            vmap(raises)(th.ones(3))


class Derivatives(unittest.TestCase):
    close = Vmap.close

    def test_jvp_is_along_the_tangent(self):
        x, v = arr(4), arr(4, seed=1)
        y, dy = jvp(th.sin, (x,), (v,))
        self.close(y, np.sin(x))
        self.close(dy, np.cos(x) * v)

    def test_jvp_takes_trees_and_gives_them(self):
        x, v = arr(3), arr(3, seed=1)
        (y, dy, aux) = jvp(lambda d: ({"a": d["x"] * 2, "b": d["x"] ** 2}, d["x"] + 1), ({"x": th.tensor(x)},), ({"x": th.tensor(v)},), has_aux=True)
        self.close(dy["b"], 2 * x * v)
        self.close(aux, x + 1)

    def test_vjp_gives_a_function_of_cotangents(self):
        a, b = arr(2, 3), arr(3, 2)
        y, pull = vjp(lambda a, b: a @ b, a, b)
        ct = arr(2, 2, seed=2)
        da, db = pull(ct)
        self.close(da, ct @ b.T)
        self.close(db, a.T @ ct)

    def test_vjp_draws_once(self):
        def f(x):
            y, pull = vjp(lambda x: th.nn.functional.dropout(x, 0.5, True) * 2, x)
            return y, pull(th.ones(64))[0], pull(th.ones(64) * 3)[0], th.rand(1)
        after = []
        for g in (f, th.compile(f)):
            th.manual_seed(3)
            y, once, again, drawn = g(th.ones(64))
            self.assertEqual(set(y.tolist()), {0.0, 4.0})
            self.close(once, y)
            self.close(again, np.array(y.tolist()) * 3)
            after.append(drawn.item())
        self.assertEqual(after[0], after[1])

    def test_vjp_in_a_compiled_function_differentiates_by_its_own_arguments(self):
        x = arr(3).astype(np.float32)
        f = th.compile(lambda x: vjp(lambda y: {"a": y * x, "b": [y]}, x)[1]({"a": th.ones(3), "b": [th.ones(3)]})[0])
        self.close(f(x), x + 1)
        unused = th.compile(lambda x, w: vjp(lambda x, w: x * 2, x, w)[1](th.ones(3)))
        self.close(unused(x, x)[1], np.zeros(3))

    def test_vjp_in_a_compiled_function_refuses_what_does_not_fit(self):
        for cotangents, said in (((th.ones(4),), "cotangents 0 must be"), ((th.ones(3),) * 2, "1 cotangents are needed, 2 were given")):
            with self.assertRaisesRegex(ValueError, said):
                th.compile(lambda x: vjp(lambda y: y * 2, x)[1](*cotangents))(arr(3))  # noqa: B023 - called at once
        with self.assertRaisesRegex(TypeError, "result 0 is thunder.int64, only floats"):
            th.compile(lambda x: vjp(lambda y: y.to(th.int64), x)[1](th.ones(3)))(arr(3))
        with self.assertRaisesRegex(TypeError, "only by tensors of floats"):
            th.compile(lambda x: vjp(lambda y: y * 2, x.to(th.int64))[1](th.ones(3)))(arr(3))

    def test_jacobians_agree(self):
        a, x = arr(3, 4), arr(4)
        for jacobian in (jacrev, jacfwd):
            self.close(jacobian(lambda x: th.tanh(th.tensor(a) @ x))(x), (1 - np.tanh(a @ x) ** 2)[:, None] * a)
            by_both = jacobian(lambda a, x: a @ x, argnums=(0, 1))(th.tensor(a), th.tensor(x))
            self.assertEqual([tuple(j.shape) for j in by_both], [(3, 3, 4), (3, 4)])
            self.close(by_both[1], a)
            out, aux = jacobian(lambda x: ((x * 2, x.sum()), x), has_aux=True)(x)
            self.close(out[1], np.ones(4))
            self.close(aux, x)

    def test_hessian_is_that_of_a_quadratic_form(self):
        a, x = arr(4, 4), arr(4)
        for f in (hessian(lambda x: x @ (th.tensor(a) @ x)), th.compile(hessian(lambda x: x @ (th.tensor(a) @ x))), jacrev(jacfwd(lambda x: x @ (th.tensor(a) @ x)))):
            self.close(f(x), a + a.T)

    def test_second_derivatives(self):
        x = np.abs(arr(3)) + 0.5
        for f, second in ((th.exp, np.exp), (th.sin, lambda x: -np.sin(x)), (th.log, lambda x: -1 / x ** 2), (th.sqrt, lambda x: -0.25 * x ** -1.5),
                          (lambda x: x ** 3, lambda x: 6 * x), (th.reciprocal, lambda x: 2 / x ** 3), (th.tanh, lambda x: -2 * np.tanh(x) / np.cosh(x) ** 2),
                          (th.sigmoid, lambda x: (s := 1 / (1 + np.exp(-x))) * (1 - s) * (1 - 2 * s)), (th.softplus, lambda x: (s := 1 / (1 + np.exp(-x))) * (1 - s)),
                          (lambda x: th.cumsum(x, 0) ** 2, None), (lambda x: th.logsumexp(x, 0), None), (lambda x: th.softmax(x, 0), None),
                          (lambda x: th.layer_norm(x, [3]), None), (lambda x: th.norm(x), None), (lambda x: th.prod(x), None), (lambda x: th.cumprod(x, 0), None),
                          (lambda x: th.logcumsumexp(x, 0), None)):
            def total(x):
                return f(x).sum()
            got = hessian(total)(x)
            if second is None:
                g, h, n = grad(total), 1e-5, len(x)
                expected = np.stack([(np.asarray(g(x + h * np.eye(n)[i])) - np.asarray(g(x - h * np.eye(n)[i]))) / (2 * h) for i in range(n)])
            else:
                expected = np.diag(second(x))
            self.close(got, expected, 2e-6)
            self.close(jacrev(grad(total))(x), expected, 2e-6)

    def test_products_with_a_hessian_forwards_over_backwards(self):
        a, x, v = arr(4, 4), arr(4), arr(4, seed=3)
        _, got = jvp(grad(lambda x: x @ (th.tensor(a) @ x)), (x,), (v,))
        self.close(got, (a + a.T) @ v)

    def test_grad_and_value_turns_the_pair(self):
        gradient, value = grad_and_value(lambda x: (x ** 2).sum())(arr(3))
        self.close(gradient, 2 * arr(3))
        self.close(value, (arr(3) ** 2).sum())

    def test_mistakes_name_what_is_wrong(self):
        with self.assertRaisesRegex(th.Error, r"tangents 0 must be f64\[3\], got f64\[2\]"):
            jvp(th.sin, (arr(3),), (arr(2),))
        with self.assertRaisesRegex(TypeError, "only by tensors of floats"):
            jacrev(lambda x: x * 2.0)(th.arange(3))
        with self.assertRaisesRegex(th.Error, "only reals can be differentiated"):
            jacfwd(lambda x: x > 0)(th.ones(3))


class Checkpoint(unittest.TestCase):
    close = Vmap.close

    @staticmethod
    def block(x, w):
        for _ in range(4):
            x = th.tanh(x @ w)
        return x

    def test_changes_no_gradient(self):
        x, w = arr(5, 6), arr(6, 6) * 0.3
        checkpoint = th.utils.checkpoint.checkpoint
        plain = th.compile(th.value_and_grad(lambda w, x: self.block(self.block(x, w), w).sum()))
        again = th.compile(th.value_and_grad(lambda w, x: checkpoint(self.block, checkpoint(self.block, x, w), w).sum()))
        for got, expected in zip(again(w, x), plain(w, x)):
            self.close(got, expected, 1e-12)
        value, gradient = th.value_and_grad(lambda w: checkpoint(self.block, th.tensor(x), w).sum())(w)
        self.close(value, np.asarray(self.block(th.tensor(x), th.tensor(w)).sum()), 1e-12)
        self.close(gradient, th.grad(lambda w: self.block(th.tensor(x), w).sum())(w), 1e-12)

    def test_keeps_less(self):
        x, w = th.randn(256, 64), th.randn(64, 64)

        def peak(run):
            def loss(w, x):
                for _ in range(6):
                    x = run(self.block, x, w)
                return x.sum()
            f = th.compile(th.value_and_grad(loss))
            f(w, x)
            return th.stats(f)["peak_arena_bytes"]
        kept, again = peak(lambda f, *args: f(*args)), peak(th.utils.checkpoint.checkpoint)
        self.assertLess(again, 0.6 * kept, f"{again} bytes with checkpoints, {kept} without")

    def test_draws_the_same_numbers_again(self):
        x = th.ones(1000)
        f = th.compile(lambda x: th.value_and_grad(lambda x: th.utils.checkpoint.checkpoint(lambda x: th.dropout(x, 0.5, True), x).sum())(x))
        value, gradient = f(x)
        self.close(value, np.asarray(gradient).sum())

    def test_reads_back_from_text_and_files(self):
        checkpoint, x = th.utils.checkpoint.checkpoint, th.rand(3)

        def block(v):
            return checkpoint(lambda w: th.dropout(th.sin(w), 0.3, True), th.cos(v)) * 2
        f = th.compile(th.value_and_grad(lambda x: checkpoint(block, x).sum()), verify=True)

        def drawn(f):
            th.seed(3)
            return [t.tolist() for t in f(x)]
        expected = drawn(f)
        with tempfile.TemporaryDirectory() as folder:
            th.save_program(f, f"{folder}/f.safetensors")
            self.assertEqual(drawn(th.load_program(f"{folder}/f.safetensors", verify=True)), expected)
        text = str(th.last_traces(f)[0])
        self.assertEqual(text.count("do  -- checkpoint"), 2)
        self.assertEqual(drawn(th.function_from_trace(text)), expected)
        deep = text.replace("  do  -- checkpoint", 200 * "  do  -- checkpoint t[1]\n" + "  do  -- checkpoint", 1)
        with self.assertRaisesRegex(th.Error, "blocks lie in more than 100 others"):
            th.function_from_trace(deep)

    def test_composes_with_vmap(self):
        x = arr(4, 3)
        f = th.compile(vmap(grad(lambda v: th.utils.checkpoint.checkpoint(lambda v: th.sin(v), v).sum())))
        self.close(f(x), np.cos(x))
        g = th.compile(grad(lambda x: vmap(lambda v: th.utils.checkpoint.checkpoint(lambda v: th.sin(v), v).sum())(x).sum()))
        self.close(g(x), np.cos(x))


if __name__ == "__main__":
    unittest.main()
