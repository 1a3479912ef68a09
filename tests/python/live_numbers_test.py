"""Numbers and dicts that are arguments of a compiled function: what code in it finds out about them."""
import unittest
import warnings

import numpy as np
import thunder as th

th.seed(0)
X = np.ones(2, np.float32)


def first(result):
    return result.tolist()[0]


def misses(f):
    return th.stats(f)["misses"]


class Numbers(unittest.TestCase):
    def test_are_what_isinstance_says(self):
        x = th.tensor(X)
        integer = th.compile(lambda x, n: x * 2 if isinstance(n, int) else x, dynamic=True)
        real = th.compile(lambda x, s: x * 2 if isinstance(s, float) else x)
        size = th.compile(lambda x: x * 2 if isinstance(x.shape[0], int) else x, dynamic=True)
        self.assertEqual([first(integer(x, n)) for n in (2, 3, 4)], [2] * 3)
        self.assertEqual([first(real(x, s)) for s in (0.5, 0.25)], [2] * 2)
        self.assertEqual(misses(real), 1)
        self.assertEqual([first(size(th.ones(n))) for n in (2, 3, 4)], [2] * 3)

    def test_are_numbers_where_code_tells_them_from_tensors(self):
        x = th.tensor(X)
        for test in (lambda x, s: x * 2 if type(s) is float else x, lambda x, s: x if isinstance(s, th.Tensor) else x * 2):
            f = th.compile(test)
            self.assertEqual([first(f(x, s)) for s in (0.5, 0.25)], [2] * 2)
        f = th.compile(lambda x, n: x * 2 if type(n) is int else x, dynamic=True)
        self.assertEqual([first(f(x, n)) for n in (2, 3, 4)], [2] * 3)

    def test_are_numbers_where_code_asks_which_object_they_are(self):
        with warnings.catch_warnings():  # of Python, that == is meant
            warnings.simplefilter("ignore")
            f = th.compile(eval("lambda x: x.sum() if x.shape[0] is 3 else x.prod()"))
        self.assertEqual([f(th.full((n,), 2.0)).item() for n in (2, 3, 4, 3)], [4, 6, 16, 6])

    def test_round_to_decimal_digits_as_numbers_do(self):
        f = th.compile(lambda x, s: x * round(s, 1), fullgraph=False)
        for s in (5.55, 2.25, 0.15, -2.675):
            self.assertEqual(f(th.ones(1, dtype=th.float64), s).item(), round(s, 1))
        with self.assertRaisesRegex(th.Error, "item.. of a traced tensor"):
            th.compile(lambda x, s: x * round(s, 1))(th.ones(1), 5.55)

    def test_are_no_keys_unless_they_are_read(self):
        def f(x, s):
            return x * {0.5: 2}.get(s, 3)
        with self.assertRaisesRegex(th.Error, r"hash\(\) of a traced tensor"):
            th.compile(f)(th.tensor(X), 0.5)
        g = th.compile(f, fullgraph=False)
        self.assertEqual([first(g(th.tensor(X), s)) for s in (0.5, 0.25)], [2, 3])

    def test_are_read_first_in_segments(self):
        for read in (float, lambda s: s.item() if hasattr(s, "item") else s, int, lambda s: float(s * 2)):
            f = th.compile(lambda x, s: x * read(s), fullgraph=False)
            for s in (2.5, 0.5, 2.5):
                self.assertAlmostEqual(first(f(th.tensor(X), s)), read(s), 6)


class Order(unittest.TestCase):
    def test_of_a_dict_is_the_callers(self):
        f = th.compile(lambda d: ({k: v * 2 for k, v in d.items()}, sum(v * (i + 1) for i, v in enumerate(d.values()))))
        a, b = th.ones(1), th.ones(1) * 10
        for given in ({"a": a, "b": b}, {"b": b, "a": a}, {"z": a, "m": b, "a": a}):
            doubled, total = f(given)
            self.assertEqual(list(doubled), list(given))
            self.assertEqual(first(total), sum(first(v) * (i + 1) for i, v in enumerate(given.values())))


if __name__ == "__main__":
    unittest.main()
