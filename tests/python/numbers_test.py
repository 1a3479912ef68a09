"""Plain numbers beside tensors: PyTorch's rule, written down here with numpy alone, for every operator and every way of running it.

A number takes part in promotion by its kind alone; it is converted once, to the type that computes (float32 for the reals of 16 bits), and the
result is rounded once. An integer that the type of integers cannot hold is an error where its value matters; sums and products wrap.
"""
import itertools
import operator
import unittest

import numpy as np
import thunder as th

th.seed(0)  # the same numbers at each run

NUMBERS = [2 ** 53 + 1, 0.1, 65536.0, -0.0, 300, -3, 2.5, True]
REALS, WHOLE = ("float16", "float32", "float64"), ("uint8", "int8", "int32", "int64")
VALUES = {**{name: [0.5, -7.0, 1.0, 96.0] for name in REALS}, "uint8": [1, 7, 200, 3], "int8": [1, -7, 100, 3], "int32": [1, -7, 2 ** 30, 3],
          "int64": [1, -7, 2 ** 53 + 1, 3]}
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
WRAPPING = {operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor}


class Refused(Exception):
    pass


def wrapped(values, dtype):
    """Integers of any size as that type has them."""
    bits = np.dtype(dtype).itemsize * 8
    signed = np.dtype(dtype).kind == "i"
    return [v % 2 ** bits - (2 ** bits if signed and v % 2 ** bits >= 2 ** (bits - 1) else 0) for v in values]


def of_integers(op, xs, number, reflected, dtype):
    """In integers of any size; a negative number beside integers without a sign is the one with its bits."""
    most = int(np.iinfo(dtype).max)
    least = -most if np.dtype(dtype).kind == "u" else int(np.iinfo(dtype).min)
    if op not in WRAPPING and not least <= number <= most:
        raise Refused
    if op is operator.pow and (min(xs) if reflected else number) < 0:
        return None  # of negative powers little is said
    number = wrapped([number], dtype)[0]
    results = []
    for x in xs:
        a, b = (number, x) if reflected else (x, number)
        if op in (operator.floordiv, operator.mod) and b == 0:
            raise Refused
        if op in (operator.lshift, operator.rshift) and not 0 <= b < np.dtype(dtype).itemsize * 8:
            results.append((-1 if a < 0 else 0) if op is operator.rshift else 0)
        elif op is operator.pow:
            results.append(pow(a, b, 2 ** 64))
        else:
            results.append(op(a, b))
    return np.array(results, bool) if op in COMPARISONS else np.array(wrapped(results, dtype), dtype)


def rule(op, xs, number, reflected, dtype):
    """The result, or Refused."""
    if dtype in WHOLE and not isinstance(number, float) and op is not operator.truediv:
        return of_integers(op, xs, int(number), reflected, dtype)
    if op in BITS:
        raise Refused
    result = dtype if dtype in REALS else "float32"
    compute = np.dtype("float64" if result == "float64" else "float32").type
    x, s = np.array(xs, dtype).astype(compute), compute(np.dtype(result).type(number) if op is operator.mod else number)
    a, b = (s, x) if reflected else (x, s)
    with np.errstate(all="ignore"):
        made = np.fmod(a, b) if op is operator.mod else op(a, b)
        if op is operator.mod:
            made = np.where((made != 0) & ((made < 0) != (np.broadcast_to(b, made.shape) < 0)), made + b, made)
        if op is operator.floordiv:
            made = np.floor_divide(a, b)
        return made if op in COMPARISONS else made.astype(result)


def ways(op, reflected):
    plain = (lambda x, s: op(s, x)) if reflected else op
    yield "eager", plain
    yield "live", th.compile(plain)


class Operators(unittest.TestCase):
    def check(self, op, dtype, number, reflected):
        xs = VALUES[dtype]
        try:
            wanted = rule(op, xs, number, reflected, dtype)
            if wanted is None:
                return
        except Refused:
            wanted = None
        live = dict(ways(op, reflected))
        live["constant"] = th.compile(lambda x: op(number, x) if reflected else op(x, number))
        for how, run in live.items():
            where = f"{op.__name__} {'reflected ' * reflected}{dtype} {number!r} {how}"
            x = th.tensor(xs, dtype=dtype)
            given = (x,) if how == "constant" else (x, number)
            if wanted is None:
                with self.assertRaises((th.Error, OverflowError), msg=where):
                    run(*given)
                continue
            got = run(*given)
            self.assertEqual(got.dtype.name, wanted.dtype.name, where)
            tolerance = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-14}.get(wanted.dtype.name, 0) if op in (operator.pow, operator.mod) else 0
            np.testing.assert_allclose(got.numpy(), wanted, rtol=tolerance, atol=0, err_msg=where)
            if op not in (operator.mod, operator.floordiv):  # whose zeros differ in sign among languages
                np.testing.assert_array_equal(np.signbit(got.numpy()) if wanted.dtype.kind == "f" else 0,
                                              np.signbit(wanted) if wanted.dtype.kind == "f" else 0, err_msg=where)

    def test_numbers_are_converted_once(self):
        for op, dtype, number, reflected in itertools.product(ARITHMETIC + COMPARISONS + BITS, REALS + WHOLE, NUMBERS, (False, True)):
            if op in COMPARISONS and reflected or number is True and (op in BITS or op is operator.sub):
                continue
            with self.subTest(op=op.__name__, dtype=dtype, number=number, reflected=reflected):
                self.check(op, dtype, number, reflected)


class Signs(unittest.TestCase):
    def test_a_nan_has_the_sign_of_its_bit(self):
        values = np.array([np.nan, -np.nan, -0.0, 0.0, 1, -1] * 7, np.float32)
        wanted = np.signbit(values)

        def f(x):
            return th.signbit(x), th.copysign(th.ones_like(x), x) < 0, th.signbit(x.clamp(-0.5, 0.5)), ~th.signbit(-x)
        for dtype, run in itertools.product(REALS, (f, th.compile(f), th.compile(f, executors=["host"]))):
            for at, made in enumerate(run(th.tensor(values).to(dtype))):
                np.testing.assert_array_equal(made.numpy(), wanted, err_msg=f"{at} of {dtype}")


def into(x, number, key):
    x = x.clone()
    x[key] = number
    return x


# What puts a number beside a tensor's elements, by each kind of argument that a schema has, and leaves it there as it is.
STORES = {
    "full": lambda x, s: th.full((2,), s, dtype=x.dtype), "full_like": th.full_like, "new_full": lambda x, s: x.new_full((2,), s),
    "fill_": lambda x, s: x.clone().fill_(s), "an element": lambda x, s: into(x, s, 0)[:1].expand(2), "elements by a list": lambda x, s: into(x, s, [0, 1]),
    "elements by a mask": lambda x, s: into(x, s, x == x), "masked_fill": lambda x, s: x.masked_fill(x == x, s), "where": lambda x, s: th.where(x != x, x, s),
    "index_fill": lambda x, s: x.index_fill(0, th.tensor([0, 1]), s), "add": lambda x, s: x * 0 + s, "tensor": lambda x, s: th.tensor([s, s], dtype=x.dtype),
}


class Stores(unittest.TestCase):
    def test_what_is_stored_is_the_number_itself(self):
        for (name, store), (dtype, number) in itertools.product(STORES.items(), [
                ("float64", 0.1), ("float64", 1e39), ("float64", -0.0), ("float64", 5e-324), ("float32", 0.1), ("float16", 65504.0), ("int64", 2 ** 53 + 1),
                ("int64", -2 ** 63), ("int64", 2 ** 63 - 1), ("int32", -2 ** 31), ("uint8", 255), ("bool", True)]):
            if name in ("where", "add") and dtype == "bool" or name == "add" and number == 0:  # -0.0 + 0.0 is 0.0
                continue
            wanted = np.full(2, number, dtype)
            for how, run in (("eager", store), ("compiled", th.compile(lambda x, store=store, number=number: store(x, number)))):
                x = th.ones(2, dtype=getattr(th, dtype))
                got = run(x, number) if how == "eager" else run(x)
                where = f"{name} {dtype} {number!r} {how}"
                self.assertEqual(got.dtype.name, dtype, where)
                self.assertEqual(got.numpy().tobytes(), wanted.tobytes(), where)

    def test_a_number_out_of_range_is_refused_by_name(self):
        for (name, store), (dtype, number) in itertools.product(STORES.items(), [("uint8", 300), ("int8", 128), ("int32", 2 ** 40), ("int64", 2 ** 64)]):
            if name == "add" and number != 2 ** 64:  # sums wrap
                continue
            for how, run in (("eager", store), ("compiled", th.compile(lambda x, store=store, number=number: store(x, number)))):
                x = th.ones(2, dtype=getattr(th, dtype))
                with self.assertRaisesRegex((th.Error, OverflowError), str(number), msg=f"{name} {dtype} {number} {how}"):
                    run(x, number) if how == "eager" else run(x)

    def test_options_keep_all_bits(self):
        x = th.tensor([0.5], dtype=th.float64)
        for got, wanted in ((th.add(x, x, alpha=0.1), 0.5 + 0.1 * 0.5), (th.addcmul(x, x, x, value=0.1), 0.5 + 0.25 * 0.1), (th.lerp(x, x * 2, 0.1), 0.5 + 0.1 * 0.5),
                            (th.clamp(x, max=0.1), 0.1), (th.nn.functional.leaky_relu(-x, 0.1), -0.5 * 0.1), (th.nn.functional.threshold(x, 0.6, 0.1), 0.1),
                            (th.arange(0, 0.3, 0.1, dtype=th.float64)[1:2], 0.1)):
            self.assertEqual(got.item(), wanted)
        self.assertEqual((th.tensor([0.0078125], dtype=th.float16) * 65536.0).item(), 512, "a scale beyond float16 is none of its numbers")
        self.assertEqual(th.add(th.tensor([1]), th.tensor([1]), alpha=2 ** 53 + 1).item(), 2 ** 53 + 2)

    def test_integers_without_a_sign_have_all_of_their_bits(self):
        x = th.tensor([2 ** 63 + 1], dtype=th.uint64)
        self.assertEqual((x + 2 ** 63).item(), 1)
        self.assertEqual((th.full((1,), 2 ** 64 - 1, dtype=th.uint64).item(), (x == 2 ** 63 + 1).item()), (2 ** 64 - 1, True))
        for dynamic in (None, True):  # as an argument, where it is a constant, as each other one is
            f = th.compile(lambda x, s: x + s // 2, dynamic=dynamic)
            for s in (2 ** 63 + 3, 2 ** 63 + 5, 4, -4, 2 ** 64):
                self.assertEqual(f(x, s).item(), (2 ** 63 + 1 + s // 2) % 2 ** 64)
        g = th.compile(lambda x, d: x.clone().fill_(d["s"]) + (d["s"] > 2 ** 63), fullgraph=False)
        self.assertEqual(g(x, {"s": 2 ** 63 + 9}).item(), 2 ** 63 + 10)
        for wrong in (lambda: x + 2 ** 64, lambda: th.ones(1) * -2 ** 64, lambda: th.zeros(2 ** 63)):
            with self.assertRaisesRegex(OverflowError, "must fit 64 bits"):
                wrong()


if __name__ == "__main__":
    unittest.main()
