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


class Ops(unittest.TestCase):
    def test_run_eagerly_and_compiled(self):
        x = th.tensor([1.0, 2.0])
        self.assertEqual(square_plus(x).tolist(), [2, 5])
        self.assertEqual(square_plus(x, c=3).tolist(), [4, 7])
        f = th.compile(lambda x: square_plus(x, 3))
        self.assertEqual(f(x).tolist(), [4, 7])
        self.assertIn("square_plus_py(", str(th.last_traces(f)[0]))
        self.assertEqual([y.tolist() for y in both(x, x)], [[2, 4], [0, 0]])

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
