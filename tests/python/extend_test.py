"""Ops and rules of the user's own, from Python."""
import unittest

import numpy as np

import thunder as th


@th.op("square_plus_py(tensor x, float c=1.0) -> tensor")
def square_plus(x, c):
    """x * x + c."""
    return x * x + c


@th.op("mine.clipped_py(tensor x, float limit) -> tensor", vjp=lambda ctx, cotangent: (cotangent * 10, None))
def clipped(x, limit):
    return th.clamp(x, -limit, limit)


@th.op("both_py(tensor x, tensor y) -> (tensor, tensor)")
def both(x, y):
    return x + y, x - y


def of_meta(name, **how):
    @th.op(f"{name}(tensor x) -> tensor", meta=lambda line: line.inputs[0], **how)
    def doubled(x):
        return x.numpy() * 2
    return doubled


opaque, declared = of_meta("mine.opaque_py"), of_meta("mine.declared_py", not_differentiable=True)


def on_a_tape(f, x):
    with th.tape():
        return th.grad_of(f(x), [x])[0]


def backwards(f, x):
    x = x.clone().requires_grad_()
    with th.tape():
        f(x).backward()
    return x.grad


# The gradient of a loss by its one argument.
WAYS = {
    "grad": lambda f, x: th.grad(f)(x), "value_and_grad": lambda f, x: th.value_and_grad(f)(x)[1], "a tape": on_a_tape, "backward": backwards,
    "compiled": lambda f, x: th.compile(th.grad(f))(x), "in segments": lambda f, x: th.compile(th.grad(f), fullgraph=False)(x),
    "dynamic": lambda f, x: th.compile(th.grad(f), dynamic=True)(x), "a compiled function on a tape": lambda f, x: on_a_tape(th.compile(f), x),
    "func.grad": lambda f, x: th.func.grad(f)(x), "jacrev": lambda f, x: th.func.jacrev(f)(x), "jacfwd": lambda f, x: th.func.jacfwd(f)(x),
    "jvp": lambda f, x: th.func.jvp(f, (x,), (th.ones_like(x),))[1], "vjp": lambda f, x: th.func.vjp(f, x)[1](th.tensor(1.0))[0],
    "a checkpoint": lambda f, x: th.grad(lambda y: th.utils.checkpoint.checkpoint(f, y))(x),
    "grad of grad": lambda f, x: th.grad(lambda y: th.grad(lambda z: f(z) * z.sum())(y).sum())(x),
}


class Gradients(unittest.TestCase):
    def test_that_pass_an_op_without_a_rule_are_refused_by_its_name(self):
        for name, way in WAYS.items():
            with self.subTest(name), self.assertRaisesRegex((th.Error, NotImplementedError), "mine.opaque_py: a gradient passes .* has no vjp"):
                way(lambda x: (opaque(x * 3) * x).sum(), th.tensor([1.0, 2.0]))

    def test_that_do_not_pass_it_are_as_they_were(self):
        x, other = th.tensor([1.0, 2.0]), th.tensor([3.0, 4.0])
        constant = opaque(other)
        for name, way in WAYS.items():
            with self.subTest(name):
                wanted = way(lambda y: (y * constant).sum(), x).tolist()
                self.assertEqual(way(lambda y: (y * opaque(other)).sum(), x).tolist(), wanted)
                self.assertEqual(way(lambda y: (y * opaque(y.detach() * 0 + other)).sum(), x).tolist(), wanted)

    def test_that_meet_what_is_declared_not_differentiable_end_there(self):
        for name, way in WAYS.items():
            with self.subTest(name):
                wanted = way(lambda x: (x.detach() * 6 * x).sum(), th.tensor([1.0, 2.0])).tolist()
                self.assertEqual(way(lambda x: (declared(x * 3) * x).sum(), th.tensor([1.0, 2.0])).tolist(), wanted)
        with self.assertRaisesRegex(th.Error, "'mine.both_py' has a vjp, and is declared not differentiable"):
            th.op("mine.both_py(tensor x) -> tensor", meta=lambda line: line.inputs[0], vjp=lambda ctx, c: c, not_differentiable=True)(lambda x: x)


class Ops(unittest.TestCase):
    def test_run_eagerly_and_compiled(self):
        x = th.tensor([1.0, 2.0])
        self.assertEqual(square_plus(x).tolist(), [2, 5])
        self.assertEqual(square_plus(x, c=3).tolist(), [4, 7])
        f = th.compile(lambda x: square_plus(x, 3))
        self.assertEqual(f(x).tolist(), [4, 7])
        self.assertIn("square_plus_py(", str(th.last_traces(f)[0]))
        self.assertEqual([y.tolist() for y in both(x, x)], [[2, 4], [0, 0]])

    def test_with_effects_run_in_their_order(self):
        order = []

        @th.op("order.noted(tensor x, str name) -> tensor", meta=lambda line: line.inputs[0], effects=True, not_differentiable=True)
        def noted(x, name):
            order.append(name)
            return x

        def f(x, y):
            x.add_(x.flip(0))                 # what reads this comes behind its kernel, what does not may come before
            return noted(x.sigmoid(), "first"), noted(y, "second"), noted((x * 2).exp(), "third")
        th.compile(f)(th.ones(6), th.ones(4))
        self.assertEqual(order, ["first", "second", "third"])

    def test_are_listed_with_their_doc(self):
        row = next(row for row in th.ops() if row["name"] == "square_plus_py")
        self.assertEqual(row["doc"], "x * x + c.")
        self.assertIn("x * x + c.", square_plus.__doc__)

    def test_have_the_gradient_of_their_decomposition_or_their_own(self):
        x = th.tensor([1.0, -5.0])
        self.assertEqual(th.grad(lambda x: square_plus(x, 3).sum())(x).tolist(), [2, -10])
        self.assertEqual(th.compile(th.grad(lambda x: clipped(x, 2.0).sum()))(x).tolist(), [10, 10])

    def test_raise_what_their_function_raises(self):
        @th.op("angry_py(tensor x) -> tensor")
        def angry(x):
            raise KeyError("on purpose")
        with self.assertRaises(KeyError):
            th.compile(lambda x: angry(x))(th.ones(1))
        self.assertEqual(square_plus(th.ones(1)).tolist(), [2])

    def test_that_are_taken_or_misspelt_are_refused(self):
        for schema in ("square_plus_py(tensor x) -> tensor", "relu(tensor x) -> tensor", "nothing"):
            with self.assertRaises(th.Error):
                th.op(schema)(lambda x: x)


class Rules(unittest.TestCase):
    def test_rewrite_what_matches(self):
        th.add_rules("rsqrt_py", ["div(a, sqrt(b)) -> mul(a, rsqrt(b))"])
        f = th.compile(lambda a, b: a / th.sqrt(b))
        np.testing.assert_allclose(f(th.ones(2), th.tensor([4.0, 16.0])).numpy(), [0.5, 0.25])
        self.assertTrue(any("rsqrt(" in str(trace) for trace in th.last_traces(f)))
        off = th.compile(lambda a, b: a / th.sqrt(b), disable_passes=["rsqrt_py"])
        off(th.ones(2), th.ones(2))
        self.assertFalse(any("rsqrt(" in str(trace) for trace in th.last_traces(off)))

    def test_that_make_no_sense_are_refused(self):
        with self.assertRaisesRegex(th.Error, "nothing_like_it"):
            th.add_rules("broken_py", ["nothing_like_it(a) -> a"])


if __name__ == "__main__":
    unittest.main()
