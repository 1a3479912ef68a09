"""Tensors made of numbers: which dtype they have, and that no number is changed without a word, as in PyTorch 2.11."""
import unittest

import numpy as np
import thunder as th

LARGE = 2 ** 53 + 1


class Dtypes(unittest.TestCase):
    def test_lists_have_the_dtype_in_which_their_numbers_meet(self):
        for data, dtype in (([1, 2], "int64"), ([True, False], "bool"), ([True, 2], "int64"), ([True, 1.5], "float32"), ([1, 2.5], "float32"),
                            ([2 ** 31], "int64"), ([], "float32"), ([[], []], "float32"), ((1, 2), "int64"), (range(3), "int64"), (2.5, "float32"),
                            (7, "int64"), (True, "bool"), ([[1], [2.0]], "float32")):
            self.assertEqual(th.tensor(data).dtype.name, dtype, data)

    def test_scalars_of_numpy_keep_their_dtypes(self):
        f16, f32, f64, i32, i8, u8 = np.float16(1), np.float32(1), np.float64(1), np.int32(1), np.int8(1), np.uint8(1)
        for data, dtype in ((f64, "float64"), (i32, "int32"), (np.bool_(True), "bool"), ([f64, 2], "float64"), ([2, f64], "float64"), ([f32, 2.0], "float32"),
                            ([f16, 2.0], "float32"), ([f16], "float16"), ([i32, 2], "int64"), ([i32], "int32"), ([u8, i8], "int16"), ([u8], "uint8"),
                            ([np.bool_(True), 1], "int64"), ([np.bool_(False)], "bool"), ([np.uint16(5)], "uint16"), ([np.uint64(2 ** 63)], "uint64")):
            made = th.tensor(data)
            self.assertEqual(made.dtype.name, dtype, data)
            self.assertEqual(made.tolist(), np.array(data).tolist(), data)
        with self.assertRaisesRegex(th.Error, "promotion of uint16, uint32 and uint64"):
            th.tensor([np.uint16(1), 1])

    def test_tensors_and_arrays_in_lists_are_joined(self):
        self.assertEqual(th.tensor([np.array([1, 2]), [3, 4]]).tolist(), [[1, 2], [3, 4]])
        self.assertEqual(th.tensor([th.tensor(1), 2.5]).tolist(), [1, 2.5])
        self.assertIs(th.tensor([th.tensor(1.5, dtype=th.float64), 2]).dtype, th.float64)
        self.assertIs(th.tensor([th.tensor([1]), th.tensor([2])], dtype=th.float16).dtype, th.float16)
        self.assertEqual(th.compile(lambda x: th.tensor([x[0], 2.0]))(th.tensor([5.0])).tolist(), [5, 2])
        with self.assertRaisesRegex(ValueError, "not those of one shape"):
            th.tensor([th.ones(2), [1.0]])

    def test_a_dtype_takes_every_number_that_it_can_hold(self):
        for data, dtype in (([2 ** 63], "uint64"), (2 ** 64 - 1, "uint64"), ([-2 ** 63, 2 ** 63 - 1], "int64"), ([LARGE], "int64"), ([0, 255], "uint8"),
                            ([-128, 127], "int8"), ([2 ** 70], "float64"), ([0.1], "float64"), ([65504.0], "float16"), ([300, 0], "bool")):
            got = th.tensor(data, dtype=dtype)
            self.assertEqual(got.dtype.name, dtype)
            self.assertEqual(got.tolist(), np.array(data, dtype=dtype).tolist(), (data, dtype))
        self.assertEqual(th.tensor([1.7, -1.7], dtype=th.int64).tolist(), [1, -1])
        self.assertEqual(th.tensor([-1, -255], dtype=th.uint8).tolist(), [255, 1], "what is negative counts from the end, as in PyTorch")
        self.assertEqual(th.tensor([1e39, 65520.0], dtype=th.float16).tolist(), [float("inf")] * 2)
        self.assertEqual(th.tensor([1e39]).item(), float("inf"))


class Refusals(unittest.TestCase):
    def test_a_number_that_does_not_fit_is_named_with_the_dtype(self):
        for data, dtype, message in (([300], "uint8", "tensor: 300 does not fit uint8"), ([-256], "uint8", "-256 does not fit uint8"), ([-1.5], "uint8", "-1.5 does not fit uint8"), (128, "int8", "128 does not fit int8"),
                                     ([2 ** 31], "int32", "2147483648 does not fit int32"), ([-1], "uint64", "-1 does not fit uint64"),
                                     ([2 ** 64], "uint64", "does not fit uint64"), ([2 ** 63], None, "does not fit int64; dtype=thunder.uint64"),
                                     (-2 ** 63 - 1, None, "does not fit int64$"), ([1e10], "int32", "10000000000.0 does not fit int32"),
                                     ([1e30], "int64", "does not fit int64"), ([float("nan")], "int64", "nan does not fit int64"),
                                     ([np.int64(300)], "uint8", "300 does not fit uint8"), ([300.7], "uint8", "300.7 does not fit uint8")):
            with self.assertRaisesRegex(OverflowError, message, msg=f"{data} {dtype}"):
                th.tensor(data, dtype=dtype)
        x = th.tensor([1, 2], dtype=th.uint8)
        with self.assertRaisesRegex(OverflowError, "300 does not fit uint8"):
            x[[0]] = [300]
        self.assertEqual(x.tolist(), [1, 2])

    def test_what_is_no_number_is_named(self):
        for data, error, message in ((["a"], TypeError, "tensor: .* not str"), ([None], TypeError, "not NoneType"), ({1, 2}, TypeError, "not set"),
                                     ("ab", TypeError, "not str"), ([[1, 2], [3]], ValueError, "a list of 1 stands where a list of 2"),
                                     ([1, [2]], ValueError, "a list of 1 stands where a number"), ([[1], 2], ValueError, "a number stands where a list of 1"),
                                     ([1j], TypeError, "not complex")):
            with self.assertRaisesRegex(error, message, msg=str(data)):
                th.tensor(data)
        endless = []
        endless.append(endless)
        with self.assertRaisesRegex(ValueError, "nested deeper than 64"):
            th.tensor(endless)


class Scalars(unittest.TestCase):
    """numpy's scalars are numbers of their kind, as Python's own: they take part in promotion by that alone."""

    def test_an_op_takes_them_for_numbers(self):
        cases = [("i * np.float64(2)", "float32"), ("i * np.float32(2)", "float32"), ("i * np.int64(2)", "int32"), ("i + np.bool_(True)", "int32"),
                 ("b + np.bool_(True)", "bool"), ("b + np.int8(1)", "int64"), ("h * np.float32(0.5)", "float16"), ("h * np.float64(0.5)", "float16"),
                 ("d + np.float32(0.1)", "float64"), ("x.add(i, alpha=np.int64(2))", "float32"), ("i & np.int64(3)", "int32"),
                 ("th.full((1,), np.float64(2))", "float32"), ("th.full((1,), np.int32(2))", "int64"), ("th.where(b, np.float32(1), 0.0)", "float32"),
                 ("x.sum(np.int64(0))", "float32"), ("x.sum(0, np.bool_(True))", "float32")]
        own = {"x": th.tensor([1.0]), "i": th.tensor(3, dtype=th.int32), "b": th.tensor(True), "h": th.tensor(2.0, dtype=th.float16),
               "d": th.tensor(1.0, dtype=th.float64), "np": np, "th": th}
        for text, dtype in cases:
            self.assertEqual(eval(text, own).dtype.name, dtype, text)
        self.assertEqual((own["d"] * np.float32(0.1)).item(), float(np.float32(0.1)))

    def test_a_compiled_function_gets_them_as_numbers(self):
        f = th.compile(lambda x, n: x * n)
        for number, dtype in ((np.int64(3), "int32"), (np.float32(0.5), "float32"), (np.bool_(True), "int32"), (np.float64(0.1), "float32")):
            got = f(th.tensor(7, dtype=th.int32), number)
            self.assertEqual(got.dtype.name, dtype, number)
            self.assertAlmostEqual(got.item(), 7 * float(number), places=5)
        self.assertEqual(th.compile(lambda x, n: x[:n])(th.arange(5), np.int64(2)).tolist(), [0, 1])

    def test_they_are_stored_in_elements(self):
        x = th.zeros(3)
        x[0], x[x > 5], x[[1, 2]] = np.float32(2), np.float32(1), np.float64(3)
        self.assertEqual(x.tolist(), [2, 3, 3])

    def test_result_type_takes_them_for_numbers(self):
        self.assertEqual([th.result_type(th.ones(1).half(), n) for n in (np.float32(1), np.int64(1))], [th.float16, th.float16])


if __name__ == "__main__":
    unittest.main()
