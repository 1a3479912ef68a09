"""Functions that read values: they give what eager code gives, and compile each part once."""
import unittest

import numpy as np
import thunder as th


def cut(function):
    return th.compile(function, fullgraph=False)


class Segments(unittest.TestCase):
    def assert_eager(self, function, *args):
        compiled, eager = cut(function), th.compile(function, disable=True)
        for _ in range(2):
            np.testing.assert_allclose(compiled(*args).numpy(), eager(*args).numpy(), rtol=1e-6)
        self.assertGreater(th.stats(compiled)["segments"], 0)
        return compiled

    def test_branches_and_conversions(self):
        def branch(x):
            return th.exp(x) if x.sum() > 0 else -x

        self.assert_eager(branch, th.tensor([1.0, 2.0]))
        self.assert_eager(branch, th.tensor([-1.0, -2.0]))
        self.assert_eager(lambda x: x * float((x * 2).sum()) + int(x.sum()), th.tensor([1.0, 2.0]))
        self.assert_eager(lambda x: x + np.median(x * x), th.tensor([1.0, 2.0, 4.0]))
        self.assert_eager(lambda x: x[x * 2 > 3] + 1, th.tensor([1.0, 2.0, 4.0]))
        self.assert_eager(lambda x: x * len(f"{x.sum():.3f} {x * 2}"), th.tensor([1.0, 2.0]))
        self.assert_eager(lambda x: x + max((x * 2).tolist()), th.tensor([1.0, 2.0]))

    def test_ops_whose_shapes_depend_on_values(self):
        x = th.tensor([[1.0, 0.0], [0.0, 4.0]])
        self.assert_eager(lambda x: th.nonzero(x * 2) + 1, x)
        self.assert_eager(lambda x: (x + 1)[x * 2 > 3].sum() * x, x)
        self.assert_eager(lambda x: th.unique(x * 3) * 2, x)

        def stored(x):
            y = x * 2
            y[y > 3] = th.tensor([7.0])
            return y

        self.assert_eager(stored, x)
        gradient = th.compile(th.grad(lambda x: (x * x)[x > 0.5].sum()), fullgraph=False)
        for factor in (1.0, 3.0):
            given = x * factor
            np.testing.assert_allclose(gradient(given).numpy(), 2 * given.numpy())
        for size in (1, 2, 3):
            ones = th.ones(size, 2)
            np.testing.assert_allclose(gradient(ones).numpy(), 2 * ones.numpy())

    def test_numbers_that_say_how_long_a_result_is_may_vary_before_a_read(self):
        def f(x, k):
            v = th.arange(k + 2) * 2
            return v, x if x.sum() > 0 else -x, th.arange(0.5, k)
        for options in ({}, {"dynamic": True}):
            compiled = th.compile(f, fullgraph=False, **options)
            for n, k in ((4, 1), (6, 2), (5, 3), (4, 1), (5, 7), (2, 4)):
                counted, same, reals = compiled(th.ones(n), k)
                self.assertEqual((counted.tolist(), same.tolist(), reals.tolist()), (list(range(0, 2 * k + 4, 2)), [1] * n, [i + 0.5 for i in range(k)]))

    def test_a_loop_of_a_hundred_reads_compiles_its_body_once(self):
        def loop(x):
            total = 0.0
            for _ in range(100):
                x = th.sin(x) + 1
                total += x.sum().item()
            return x * 1, th.tensor(total)

        f = cut(loop)
        first = f(th.ones(4))
        compiled = th.stats(f)["misses"]
        self.assertLessEqual(compiled, 3)
        self.assertEqual(f(th.ones(4))[1].item(), first[1].item())
        self.assertEqual(th.stats(f)["misses"], compiled)

    def test_the_report_says_where(self):
        def reads(x):
            y = x * 2
            return y if y.sum() > 0 else -y

        f = cut(reads)
        f(th.ones(2)), f(th.ones(2))
        row, = th.graph_breaks(f)
        line = reads.__code__.co_firstlineno + 2
        self.assertTrue(row["where"].endswith(f"segments_test.py:{line}"), row)
        self.assertEqual((row["reason"], row["lines"], row["times"]), ("the value of gt, bool[], was read", 3, 2))
        self.assertIn(f"segments_test.py:{line}: the value of gt", th.explain(f, "breaks"))
        self.assertEqual(th.stats(f)["graph_breaks"], 1)
        self.assertEqual(th.graph_breaks(th.compile(lambda x: x)), [])

    def test_gradients_across_a_break_are_those_of_a_whole_function(self):
        def loss(x, reads):
            y = th.tanh(x * x)
            if reads:
                self.assertGreater(y.sum().item(), 0)
            return (y * x).sum()

        x = th.tensor([0.5, 1.5])
        whole = th.compile(th.value_and_grad(lambda x: loss(x, False)))(x)
        f = cut(th.value_and_grad(lambda x: loss(x, True)))
        for _ in range(2):
            value, gradient = f(x)
            np.testing.assert_allclose(value, whole[0], rtol=1e-6)
            np.testing.assert_allclose(gradient, whole[1], rtol=1e-6)

    def test_an_exception_after_a_break_is_itself(self):
        class Mine(Exception):
            pass

        def fails(x):
            if (x * 2).sum() > 0:
                raise Mine("stopped")
            return x + 1

        f = cut(fails)
        for _ in range(2):
            with self.assertRaisesRegex(Mine, "stopped"):
                f(th.ones(2))
        self.assertEqual(f(-th.ones(2)).tolist(), [0, 0])

    def test_writes_of_numpy_into_what_is_in_use_come_after(self):
        shared = np.ones(2, np.float32)
        captured = th.from_numpy(shared)

        def f(x):
            y = x + captured
            captured.numpy()[:] = 5  # asking for the memory runs what was recorded of it
            return y

        self.assertEqual(cut(f)(th.ones(2)).tolist(), [2, 2])

    def test_messages_name_the_option(self):
        with self.assertRaisesRegex(th.Error, "fullgraph=False"):
            th.compile(lambda x: x if x.sum() > 0 else -x)(th.ones(2))
        with self.assertRaisesRegex(th.Error, "no data|a traced tensor"):
            cut(lambda x: th.vmap(lambda y: y if y.sum() > 0 else -y)(x))(th.ones(2, 2))


if __name__ == "__main__":
    unittest.main()
