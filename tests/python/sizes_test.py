"""Sizes that stand for any, in Python: SymInt."""
import json
import math
import unittest

import numpy as np
import thunder as th

th.seed(0)  # the same numbers at each run


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

    def test_an_argument_may_be_a_tensor_at_one_call_and_a_number_at_the_next(self):
        for options in ({}, {"fullgraph": False}, {"dynamic": True}):
            f = th.compile(lambda x, m=None: x if m is None else x * m, **options)
            x, two = th.ones(3), th.full((3,), 2.0)
            self.assertEqual([f(x, *m).sum().item() for m in ((), (two,), (None,), (2,), (3,), (two,), (1.5,), (7,))], [3, 6, 3, 6, 9, 6, 4.5, 21])

    def test_arithmetic_keeps_the_formula(self):
        self.same_for(lambda x: x.reshape(x.shape[0] * 3))
        self.same_for(lambda x: x.reshape(3, x.shape[0] * x.shape[1] // 3))
        self.same_for(lambda x: x.view(3, x.shape[0]))
        self.same_for(lambda x: x[0].expand(x.shape[0] + 2, 3))
        self.same_for(lambda x: th.cat([x, x]).reshape(2, x.shape[0], 3))
        self.same_for(lambda x: th.cat([x, x]).reshape(-1, x.size(0) - 0 + x.size(0)))
        self.same_for(lambda x: x * x.shape[0] + (x.shape[0] - 1))
        self.same_for(lambda x: th.arange(x.shape[0]).unsqueeze(1) + x[:, :2])
        self.same_for(lambda x: x[: x.shape[0] - 1] + x[1:])

    def test_parts_of_a_size_that_varies(self):
        even = (4, 6, 8, 10)
        self.same_for(lambda x: x.reshape(-1, 2), lengths=even)
        self.same_for(lambda x: x.chunk(2)[0] * x.chunk(2)[1], lengths=even)
        self.same_for(lambda x: x.tensor_split(2)[1] + 1, lengths=even)
        self.same_for(lambda x: th.cat(x.split([1, x.shape[0] - 1])[::-1]))
        self.same_for(lambda x: x.split(x.shape[0] // 2)[1] - x.chunk(2)[0], lengths=even)
        self.same_for(lambda x: x.roll(1, 0) - x.roll(-2, 0))

    def test_a_part_that_turns_out_empty_is_rolled(self):
        def f(x, k):
            return x.split([k, x.shape[0] - k], 0)[1].roll(k, 0)
        for compiled in (th.compile(f), th.compile(f, dynamic=True), th.compile(f, fullgraph=False)):
            for n, k in ((3, 1), (3, 2), (3, 3), (5, 3), (4, 4)):
                self.assertEqual(compiled(th.arange(n), k).tolist(), np.roll(np.arange(k, n), k).tolist())

    def test_a_comparison_is_checked_at_each_call(self):
        counted = self.same_for(lambda x: -x if x.shape[0] > 5 else x + 1, lengths=(6, 8, 9, 4, 3, 12), traces=3)
        self.assertIn("s0 > 5", counted.guards())
        even = self.same_for(lambda x: x * 2 if x.shape[0] % 2 == 0 else x, lengths=(4, 6, 8, 5, 7, 9, 10), traces=3)
        self.assertIn("s0%2", even.guards().replace(" ", ""))

    def test_what_needs_a_number_specialises(self):
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
        self.assertEqual(seen, [("6", "6", True, True, True, True, True, 0, True)])

    def test_it_has_the_members_of_an_integer(self):
        self.same_for(lambda x: x[:math.trunc(x.shape[0]) - 1] * 2)
        self.same_for(lambda x: x[:round(x.shape[0]) - 1] * math.ceil(x.shape[0]) + math.floor(x.shape[0]))
        self.same_for(lambda x: x * x.shape[0].real + x.shape[0].imag + x.shape[0].conjugate() // x.shape[0].denominator)
        self.same_for(lambda x: x[:-1 - ~x.shape[0] - 2] * x.shape[0].as_integer_ratio()[0])
        self.same_for(lambda x: x + round(x.shape[0], -1), traces=5)

    def test_transformed_functions_keep_it(self):
        self.same_for(lambda x: th.func.vmap(th.relu)(x))
        self.same_for(lambda x: th.func.vmap(lambda row: row.softmax(0) * row.reshape(3, 1).sum())(x))
        self.same_for(lambda x: th.func.vmap(lambda column: column.cos(), in_dims=1, out_dims=1)(x))
        self.same_for(lambda x: th.func.vmap(th.grad(lambda row: (row * row).sum()))(x))
        self.same_for(lambda x: th.func.vjp(lambda y: y.sin().sum(0), x)[1](th.ones(3))[0])
        self.same_for(lambda x: th.func.vjp(lambda y: y.reshape(-1).cos(), x)[1](th.ones_like(x).reshape(-1))[0])
        self.same_for(lambda x: th.func.jvp(th.exp, (x,), (x,))[1])
        marked = th.compile(lambda x: th.func.vmap(th.relu)(x))
        for length in (3, 5):
            x = th.ones(length, 2)
            th.mark_dynamic(x, 0)
            self.assertEqual(marked(x).tolist(), x.tolist())

    def test_it_is_no_number_once_its_function_was_traced(self):
        kept = []
        th.compile(lambda x: (kept.append(x.shape[0]), x + 1)[1], dynamic=True)(th.ones(5))
        size, x = kept[0], th.ones(9)
        for use in (lambda: x[:size], lambda: x * size, lambda: th.full((2,), size), lambda: x.clamp(max=size), lambda: x < size,
                    lambda: x.roll(size), lambda: x.sum(size), lambda: x.reshape(size), lambda: size + 1, lambda: th.tensor(size),
                    lambda: th.grad(lambda y: (y * size).sum())(x), lambda: th.compile(lambda y, n: y * n)(x, size)):
            with self.assertRaisesRegex(RuntimeError, "used after that"):
                use()

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

    def test_the_least_integers_are_numbers(self):
        x = th.tensor([0])
        for n in [-2**63 + 2**k for k in range(20, 62)] + [-2**63, -7046029254386353131]:
            self.assertEqual([y.tolist() for y in th.compile(lambda x: (x + n, th.full((1,), n)))(x)], [[n], [n]])

    def test_shapes_outside_are_plain(self):
        self.assertEqual([type(n) for n in th.ones(2, 3).shape], [int, int])
        self.assertEqual([type(n) for n in th.compile(lambda x: x.reshape(x.shape))(th.ones(2, 3)).shape], [int, int])


class Integers(unittest.TestCase):
    def same_for(self, function, integers=(3, 5, 4, 2, 6), traces=2, misses=None):
        counted = Counted(function)
        for n in integers:
            x = th.arange(24).reshape(8, 3).to(th.float32)
            expected, got = function(x, n), counted(x, n)
            self.assertEqual((got.dtype, got.tolist()), (expected.dtype, expected.tolist()))
        self.assertEqual(counted.traced, traces)
        if misses is not None:
            self.assertEqual(th.stats(counted.compiled)["misses"], misses)
        return counted

    def test_one_that_is_a_number_beside_tensors_is_live(self):
        self.same_for(lambda x, n: x * n + (n + 1), misses=2)
        self.same_for(lambda x, n: n - x.to(th.int32) * (n * n - 3), integers=(0, 1, -7, 2**15), misses=2)
        self.same_for(lambda x, n: th.where(th.arange(3) <= n, x, -n), misses=2)
        self.same_for(lambda x, n: x + th.tensor(n) + th.tensor([n, 1, n]), misses=2)
        self.same_for(lambda x, n: x[th.arange(n, n + 2)], misses=2)
        self.same_for(lambda x, n: x[th.arange(n, n - 2, -1)] + x[th.arange(n, n + 4, 2)], integers=(2, 3, 4), misses=2)
        self.assertIn("leaf 1 == s0", self.same_for(lambda x, n: x % n).guards())

    def test_ops_that_take_sizes_and_starts_take_it(self):
        for function in (lambda x, n: x[n], lambda x, n: x[:n], lambda x, n: x[n:] * 2, lambda x, n: x[-n:], lambda x, n: x[1:n:2],
                         lambda x, n: x.narrow(0, n, 2), lambda x, n: x.narrow(0, 1, n), lambda x, n: x.split([n, 8 - n])[1],
                         lambda x, n: th.full([n, 2], n), lambda x, n: x[:1].expand(n, 3), lambda x, n: th.arange(n) + 1,
                         lambda x, n: x[:n].reshape(3 * n), lambda x, n: x.select(0, n - 1), lambda x, n: x.roll(n, 0)):
            self.same_for(function)

    def test_a_comparison_is_checked_and_int_makes_it_a_number(self):
        counted = self.same_for(lambda x, n: x * n if n < 5 else -x, integers=(2, 3, 4, 9, 6, 1, 7), traces=3, misses=3)
        self.assertIn("s0 >= 5", counted.guards())
        self.same_for(lambda x, n: x * (12 // n) + n % 4, integers=(3, 5, 4, 2), traces=2)
        self.same_for(lambda x, n: x * (12 // n), integers=(3, 5, -2, 4), traces=4)
        self.same_for(lambda x, n: x * int(n), traces=6)
        self.same_for(lambda x, n: x * sum(range(n)), traces=6)
        self.same_for(lambda x, n: x * [1, 2, 3, 4, 5, 6, 7][n], traces=6)
        self.same_for(lambda x, n: x * {3: 1.0}.get(n, 2.0), traces=6)

    def test_a_result_is_a_number(self):
        f = th.compile(lambda x, n: (x + n, n + 1))
        for n in (3, 4, 5):
            y, after = f(th.ones(2), n)
            self.assertEqual((y.tolist(), after), ([1 + n] * 2, n + 1))

    def test_a_fixed_function_knows_none(self):
        counted = Counted(lambda x, n: x * n, dynamic=False)
        for n in (3, 4, 5):
            self.assertEqual(counted(th.ones(1), n).tolist(), [n])
        self.assertEqual(counted.traced, 3)
        first = Counted(lambda x, n: x * n, dynamic=True)
        for n in (3, 4, 5):
            first(th.ones(2), n)
        self.assertEqual((first.traced, th.stats(first.compiled)["misses"]), (1, 1))

    def test_integers_that_are_equal_are_not_one(self):
        counted = Counted(lambda x, a, b: x[a:b + 3] if a == b else x * b)
        for a, b in ((1, 1), (2, 2), (3, 3), (3, 4), (5, 2)):
            x = th.arange(12)
            expected = x[a:b + 3] if a == b else x * b
            self.assertEqual(counted(x, a, b).tolist(), expected.tolist())
        self.assertEqual(counted.traced, 3)


class Decoder:
    """Attention over a cache that is written in place, one token a call."""

    def __init__(self, masked):
        th.manual_seed(3)
        self.masked, self.context = masked, 200
        self.q, self.k, self.v = (th.randn(16, 16) * 0.3 for _ in range(3))
        self.keys, self.values = th.zeros(2, self.context, 16), th.zeros(2, self.context, 16)

    def __call__(self, x, position):
        for cache, weight in ((self.keys, self.k), (self.values, self.v)):
            if self.masked:
                cache.index_copy_(1, th.tensor([position]), (x @ weight).unsqueeze(1))
            else:
                cache[:, position] = x @ weight
        keys, values = self.keys, self.values
        if not self.masked:
            keys, values = keys[:, :position + 1], values[:, :position + 1]
        scores = (keys @ (x @ self.q).unsqueeze(-1)).squeeze(-1) / 4
        if self.masked:
            scores = th.where(th.arange(self.context) <= position, scores, -math.inf)
        return x + (th.softmax(scores, -1).unsqueeze(1) @ values).squeeze(1)


class Decoding(unittest.TestCase):
    def decode(self, masked):
        eager, compiled = Decoder(masked), Decoder(masked)
        step = Counted(compiled)
        x = y = th.ones(2, 16)
        for position in range(eager.context):
            x, y = eager(x, position), step(y, position)
            self.assertTrue(th.allclose(x, y, 1e-4, 1e-4), position)
        self.assertTrue(th.allclose(eager.keys, compiled.keys, 1e-4, 1e-4))
        return step

    def test_a_mask_over_the_cache_is_one_program_for_all_positions(self):
        step = self.decode(masked=True)
        self.assertLessEqual(step.traced, 2)
        self.assertLessEqual(th.stats(step.compiled)["misses"], 3)

    def test_a_cache_that_is_cut_at_the_position_is_one_trace(self):
        self.assertLessEqual(self.decode(masked=False).traced, 3)


if __name__ == "__main__":
    unittest.main()
