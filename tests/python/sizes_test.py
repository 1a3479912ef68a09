"""Sizes that stand for any, in Python: SymInt."""
import json
import math
import unittest

import thunder as th


class Counted:
    """A compiled function that counts how often it is traced."""

    def __init__(self, function, **options):
        self.traced = 0

        def body(*args):
            self.traced += 1
            return function(*args)
        self.compiled = th.compile(body, **options)

    def __call__(self, *args):
        return self.compiled(*args)

    def guards(self):
        return th.explain(self.compiled, "guards")


class Symbols(unittest.TestCase):
    def same_for(self, function, lengths=(4, 6, 9, 12), traces=2):
        counted = Counted(function)
        for length in lengths:
            x = th.arange(length * 3).reshape(length, 3).to(th.float32)
            self.assertEqual(counted(x).tolist(), th.compile(function, dynamic=False)(x).tolist())
        self.assertEqual(counted.traced, traces)
        return counted

    def test_arithmetic_keeps_the_formula(self):
        self.same_for(lambda x: x.reshape(x.shape[0] * 3))
        self.same_for(lambda x: x.reshape(3, x.shape[0] * x.shape[1] // 3))
        self.same_for(lambda x: x.view(3, x.shape[0]))
        self.same_for(lambda x: x[0].expand(x.shape[0] + 2, 3))
        self.same_for(lambda x: th.cat([x, x]).reshape(2, x.shape[0], 3))
        self.same_for(lambda x: th.cat([x, x]).reshape(-1, x.size(0) - 0 + x.size(0)))

    def test_a_comparison_is_checked_at_each_call(self):
        counted = self.same_for(lambda x: -x if x.shape[0] > 5 else x + 1, lengths=(6, 8, 9, 4, 3, 12), traces=3)
        self.assertIn("s0 > 5", counted.guards())
        even = self.same_for(lambda x: x * 2 if x.shape[0] % 2 == 0 else x, lengths=(4, 6, 8, 5, 7, 9, 10), traces=3)
        self.assertIn("s0%2", even.guards().replace(" ", ""))

    def test_what_needs_a_number_specialises(self):
        self.same_for(lambda x: x * x.shape[0], traces=5)
        self.same_for(lambda x: x / math.sqrt(x.shape[0]), traces=5)
        self.same_for(lambda x: sum((x[i] for i in range(x.shape[0])), x[0] * 0), traces=5)
        self.same_for(lambda x: x + int(x.shape[0]), traces=5)
        self.same_for(lambda x: x * x.shape[0] ** -0.5, traces=5)
        self.same_for(lambda x: x * (x.shape[0] * 0.5 + 1.5 / x.shape[0] + x.shape[0] / 2.0 + 2 ** x.shape[0]), traces=5)
        self.same_for(lambda x: -x if x.shape[0] == 6.0 else x, traces=5)
        self.same_for(lambda x: -x if x.shape[0] > 6.5 else x, traces=5)
        self.same_for(lambda x: x + {4: 1.0, 6: 2.0}.get(x.shape[0], 3.0), traces=5)

    def test_it_looks_like_an_integer(self):
        seen = []

        def f(x):
            n = x.shape[0]
            if isinstance(n, th.SymInt):
                seen.append((str(n), f"{n}", -n < 0, bool(n), n == n, n != n + 1, (n + 1) - n == 1, n * 0, 2 <= n))
            return -x
        counted = Counted(f)
        for length in (4, 6):
            counted(th.ones(length, 3))
        self.assertEqual(seen, [("SymInt", "SymInt", True, True, True, True, True, 0, True)])

    def test_a_function_that_cannot_work_with_it_has_plain_sizes(self):
        self.same_for(lambda x: x + len(json.dumps(x.shape[0])), traces=5)
        self.same_for(lambda x: -x if x.shape[0].bit_length() > 3 else x, traces=5)

        def refuses(x):
            if x.shape[0] > 6:
                raise ValueError("too long")
            return -x
        counted = Counted(refuses)
        counted(th.ones(4)), counted(th.ones(5))
        with self.assertRaisesRegex(ValueError, "too long"):
            counted(th.ones(7))
        with self.assertRaises(KeyboardInterrupt):
            th.compile(self.interrupted, dynamic=True)(th.ones(7))

    @staticmethod
    def interrupted(x):
        raise KeyboardInterrupt(x.shape[0])

    def test_one_that_was_kept_says_so(self):
        kept = []
        f = th.compile(lambda x: kept.append(x.shape[0]) or -x)
        for length in (4, 6):
            f(th.ones(length))
        self.assertIsInstance(kept[1], th.SymInt)
        with self.assertRaisesRegex(RuntimeError, "of a function that was traced"):
            kept[1] + 1
        g = th.compile(lambda x: x.reshape(kept[1]))
        with self.assertRaisesRegex(th.Error, "a size of another traced function"):
            g(th.ones(6))

    def test_shapes_outside_are_plain(self):
        self.assertEqual([type(n) for n in th.ones(2, 3).shape], [int, int])
        self.assertEqual([type(n) for n in th.compile(lambda x: x.reshape(x.shape))(th.ones(2, 3)).shape], [int, int])


if __name__ == "__main__":
    unittest.main()
