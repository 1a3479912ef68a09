"""Operators of tensors: each is the op of its name, with PyTorch's results and dtypes, also reflected, in place and compiled."""
import unittest

import numpy as np
import thunder as th

th.seed(0)  # the same numbers at each run

REALS = [3.0, -5.0]
WHOLE = [12, 10, -7]
TRUTHS = [True, False]
BYTES = [200, 3]


def operand(name):
    return {"x": lambda: th.tensor(REALS), "i": lambda: th.tensor(WHOLE), "b": lambda: th.tensor(TRUTHS), "u": lambda: th.tensor(BYTES, dtype=th.uint8),
            "h": lambda: th.tensor([2047.0], dtype=th.float16), "d": lambda: th.tensor([0.5], dtype=th.float64)}[name]()


# What PyTorch 2.11 gives: the expression, the values, the dtype.
ROWS = [
    ("x + 2", [5, -3], "float32"), ("2 - x", [-1, 7], "float32"), ("i * 2.5", [30, 25, -17.5], "float32"), ("i / 2", [6, 5, -3.5], "float32"),
    ("2 / x", [2 / 3, -0.4], "float32"), ("d + 0.1", [0.6], "float64"), ("0.1 * d", [0.05], "float64"),
    ("x // 2", [1, -3], "float32"), ("7 // i", [0, 0, -1], "int64"), ("i // 0.5", [24, 20, -14], "float32"), ("u // 7", [28, 0], "uint8"),
    ("x % 2", [1, 1], "float32"), ("7 % i", [7, 7, 0], "int64"), ("i % 3", [0, 1, 2], "int64"), ("i % -4", [0, -2, -3], "int64"), ("u % 3", [2, 0], "uint8"),
    ("h % 7", [3], "float16"), ("x % float('inf')", [3, float("inf")], "float32"),
    ("x ** 2", [9, 25], "float32"), ("2 ** x", [8, 0.03125], "float32"), ("2 ** i[:2]", [4096, 1024], "int64"), ("i ** 2", [144, 100, 49], "int64"),
    ("i ** 0.5 > 3", [True, True, False], "bool"),
    ("i & 6", [4, 2, 0], "int64"), ("6 & i", [4, 2, 0], "int64"), ("i | 1", [13, 11, -7], "int64"), ("1 | i", [13, 11, -7], "int64"),
    ("i ^ 5", [9, 15, -4], "int64"), ("5 ^ i", [9, 15, -4], "int64"), ("i & True", [0, 0, 1], "int64"), ("~i", [-13, -11, 6], "int64"),
    ("~u", [55, 252], "uint8"), ("u & 15", [8, 3], "uint8"), ("u ^ u", [0, 0], "uint8"),
    ("i << 1", [24, 20, -14], "int64"), ("i >> 1", [6, 5, -4], "int64"), ("1 << i[:2]", [4096, 1024], "int64"), ("-256 >> i[:2]", [-1, -1], "int64"),
    ("u << 1", [144, 6], "uint8"), ("u >> 3", [25, 0], "uint8"), ("i << 64", [0, 0, 0], "int64"),
    ("b & True", [True, False], "bool"), ("True & b", [True, False], "bool"), ("b | b", [True, False], "bool"), ("b ^ True", [False, True], "bool"),
    ("b ^ b", [False, False], "bool"), ("~b", [False, True], "bool"), ("b & 1", [1, 0], "int64"), ("1 | b", [1, 1], "int64"), ("b << 1", [2, 0], "int64"),
    ("b + b", [True, False], "bool"), ("b * b", [True, False], "bool"), ("1 + b", [2, 1], "int64"), ("1.5 + b", [2.5, 1.5], "float32"),
    ("-x", [-3, 5], "float32"), ("+i", WHOLE, "int64"), ("abs(i)", [12, 10, 7], "int64"), ("x @ x", 34, "float32"),
    ("x < 0", [False, True], "bool"), ("3 == x", [True, False], "bool"), ("x != 3", [False, True], "bool"), ("0 >= x", [False, True], "bool"),
    ("round(x / 2)", [2, -2], "float32"), ("round(d / 7, 2)", [0.07], "float64"), ("round(i)", WHOLE, "int64"),
    ("divmod(i, 5)[0]", [2, 2, -2], "int64"), ("divmod(i, 5)[1]", [2, 0, 3], "int64"), ("divmod(7, x)[1]", [1, -3], "float32"),
    ("reversed(i)", [-7, 10, 12], "int64"), ("reversed(x[0])", 3, "float32"), ("pow(x, 2)", [9, 25], "float32"),
]


class Operators(unittest.TestCase):
    def test_each_is_the_op_of_its_name_as_pytorch_has_it(self):
        for text, values, dtype in ROWS:
            function = eval(f"lambda x, i, b, u, h, d: {text}")
            for how, run in (("eager", function), ("compiled", th.compile(function))):
                got = run(*map(operand, "xibuhd"))
                self.assertEqual(got.dtype.name, dtype, (text, how))
                np.testing.assert_allclose(got.numpy(), np.array(values, dtype=dtype), rtol=1e-6, err_msg=f"{text} {how}")

    def test_a_remainder_is_exact_and_smaller_than_its_divisor(self):
        for dtype, value, divisor in (("float32", 1e9, np.pi), ("float32", 1e8, 3), ("float64", 1e20, 999), ("float32", 1e6, 0.1)):
            number = np.dtype(dtype).type(divisor)
            for how in (lambda x: x % divisor, th.compile(lambda x: x % divisor), lambda x: x % th.tensor(divisor, dtype=dtype)):
                got = how(th.tensor([value], dtype=dtype)).item()
                self.assertEqual(got, np.remainder(np.dtype(dtype).type(value), number), (dtype, value, divisor))

    def test_what_has_no_meaning_is_refused_as_in_pytorch(self):
        for text, error, message in (
                ("x & 1", th.Error, "bitwise_and: operands must be integers or booleans"), ("i | 1.5", th.Error, "bitwise_or"), ("~x", th.Error, "bitwise_not"),
                ("x << 1", th.Error, "bitwise_left_shift"), ("pow(x, 2, 3)", TypeError, r"pow\(\)"), ("pow(2, i, 3)", TypeError, r"pow\(\)"),
                ("x + 'a'", TypeError, "unsupported operand"), ("x % None", TypeError, "unsupported operand"), ("x < None", TypeError, "not supported")):
            with self.assertRaisesRegex(error, message, msg=text):
                eval(text, {name: operand(name) for name in "xi"})
        self.assertFalse(operand("x") == None)  # noqa: E711


# What PyTorch leaves in the tensor; None: the result does not fit it, an error.
IN_PLACE = [
    ("+= 2", [5, -3], [14, 12, -5], None, [202, 5]), ("-= 2", [1, -7], [10, 8, -9], None, [198, 1]), ("*= 2", [6, -10], [24, 20, -14], None, [144, 6]),
    ("/= 2", [1.5, -2.5], None, None, None), ("//= 3", [1, -2], [4, 3, -3], None, [66, 1]), ("%= 3", [0, 1], [0, 1, 2], None, [2, 0]),
    ("**= 2", [9, 25], [144, 100, 49], None, [64, 9]), ("&= 6", None, [4, 2, 0], None, [0, 2]), ("|= 1", None, [13, 11, -7], None, [201, 3]),
    ("^= 1", None, [13, 11, -8], None, [201, 2]), ("<<= 1", None, [24, 20, -14], None, [144, 6]), (">>= 1", None, [6, 5, -4], None, [100, 1]),
    ("&= False", None, [0, 0, 0], [False, False], [0, 0]), ("|= True", None, [13, 11, -7], [True, True], [201, 3]),
    ("^= True", None, [13, 11, -8], [False, True], [201, 2]),
]


class InPlace(unittest.TestCase):
    def test_the_tensor_is_written_and_stays_the_same(self):
        for text, *rows in IN_PLACE:
            for name, values in zip("xibu", rows):
                for compiled in (False, True):
                    given = operand(name)
                    body = {}
                    exec(f"def write(y):\n    before = y\n    y {text}\n    return y is before", {}, body)
                    write = th.compile(body["write"]) if compiled else body["write"]
                    if values is None:
                        with self.assertRaises(th.Error, msg=f"{name} {text}"):
                            write(given)
                        self.assertEqual(given.tolist(), operand(name).tolist(), f"{name} {text}")
                    else:
                        self.assertIs(write(given), True, f"{name} {text}")
                        self.assertEqual(given.tolist(), values, f"{name} {text}")

    def test_a_view_is_written_where_it_lies(self):
        whole = th.tensor([[7, 8], [9, 10]])
        whole[0] //= 2
        whole[:, 1] %= 3
        row = whole[1]
        row <<= 2
        self.assertEqual(whole.tolist(), [[3, 1], [36, 4]])

    def test_a_product_of_matrices_is_bound(self):
        given = made = th.eye(2)
        made @= th.ones(2, 1)
        self.assertEqual((list(made.shape), given.tolist()), ([2, 1], [[1, 0], [0, 1]]))


if __name__ == "__main__":
    unittest.main()
