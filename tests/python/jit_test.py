"""torch.jit's trace from Python, and sizes that are marked."""
import os
import tempfile
import unittest

import thunder as th

th.seed(0)  # the same numbers at each run


class Counter:
    """Called, a function that multiplies by how often it has been called."""
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x * self.calls


class Traces(unittest.TestCase):
    def test_a_trace_is_a_function_that_runs_the_other_no_more(self):
        calls = []

        def f(x, scale=1.0):
            calls.append(x)
            return th.softmax(x * scale, -1)
        g = th.jit.trace(f, (th.ones(2, 3),), example_kwarg_inputs={"scale": 2.0}, check_inputs=[])
        before = len(calls)
        x = th.randn(5, 3)
        self.assertTrue(th.allclose(g(x, scale=3.0), th.softmax(x * 3, -1)))
        self.assertIn("compiled function of a trace", repr(g))
        self.assertEqual(len(calls), before)

    def test_a_lone_tensor_and_a_compiled_function_are_taken(self):
        g = th.jit.trace(th.compile(lambda x: x + 1), th.ones(2))
        self.assertEqual(g(th.ones(3)).tolist(), [2, 2, 2])

    def test_a_module_is_in_the_mode_in_which_it_was_traced(self):
        net = th.nn.Sequential(th.nn.Linear(3, 4), th.nn.Dropout(0.5))
        net.eval()
        g = th.jit.trace(net, th.ones(2, 3), check_inputs=[(th.ones(4, 3),)])
        net.train()
        net.eval()
        self.assertTrue(th.allclose(g(th.ones(6, 3)), net(th.ones(6, 3))))
        self.assertTrue(th.allclose(th.jit.freeze(g)(th.ones(2, 3)), net(th.ones(2, 3))))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.thunder")
            g(th.ones(2, 3))
            th.jit.save(g, path)
            self.assertTrue(th.allclose(th.jit.load(path)(th.ones(2, 3)), net(th.ones(2, 3))))

    def test_the_check_finds_what_differs(self):
        with self.assertRaisesRegex(th.Error, "the first op that differs, number 1:(.|\n)*jit_test.py"):
            th.jit.trace(Counter(), (th.ones(2),))
        th.jit.trace(Counter(), (th.ones(2),), check_trace=False)

        def branches(x):
            return x + 1 if th.is_tracing() else {"scores": [x, x + 2]}["scores"][1]
        with self.assertRaisesRegex(th.Error, "output 0 differs in 2 of 2 elements; the largest error is 1, at"):
            th.jit.trace(branches, (th.ones(2),))

    def test_what_compares_sizes_is_for_these_sizes(self):
        f = th.jit.trace(lambda x: -x if x.shape[0] > 2 else x, th.ones(4, 3))
        self.assertTrue(f(th.ones(4, 3)).equal(-th.ones(4, 3)))
        with self.assertRaisesRegex(th.Error, "does not fit"):
            f(th.ones(2, 3))

    def test_an_exception_of_the_function_is_its_own(self):
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            th.jit.trace(lambda x: x * (1 // 0), (th.ones(2),))

    def test_strict_refuses_lists_and_dicts(self):
        for container in (lambda x: [x], lambda x: {"y": x}, lambda x: (x, [x])):
            with self.assertRaisesRegex(th.Error, "its results hold a list or a map"):
                th.jit.trace(container, (th.ones(2),))
            th.jit.trace(container, (th.ones(2),), strict=False)
        th.jit.trace(lambda x: (x, (x, x)), (th.ones(2),))

    def test_methods_are_traced_each(self):
        class Coder(th.nn.Module):
            def __init__(self):
                super().__init__()
                self.enc = th.nn.Linear(3, 2)

            def encode(self, x):
                return self.enc(x)

            def forward(self, x):
                return self.encode(x) * 2
        net = Coder()
        both = th.jit.trace_module(net, {"forward": th.ones(2, 3), "encode": (th.ones(2, 3),)},
                                   check_inputs=[{"forward": th.ones(4, 3)}])
        x = th.randn(5, 3)
        self.assertTrue(th.allclose(both(x), both.encode(x) * 2))
        self.assertTrue(th.allclose(th.jit.freeze(both)(x), both(x)))
        with self.assertRaisesRegex(TypeError, "no forward, only encode"):
            th.jit.trace_module(net, {"encode": th.ones(2, 3)})(x)

    def test_arguments_are_judged(self):
        with self.assertRaisesRegex(TypeError, "a function was expected, not int"):
            th.jit.trace(3, (th.ones(2),))
        with self.assertRaisesRegex(TypeError, "must be given"):
            th.jit.trace(lambda: 1)
        with self.assertRaisesRegex(th.Error, "check_tolerance"):
            th.jit.trace(lambda x: x, (th.ones(2),), check_tolerance=-1)


class Marks(unittest.TestCase):
    def test_a_marked_size_is_a_symbol_at_once(self):
        traced = []

        @th.compile
        def f(x):
            traced.append(1)
            return -x
        x = th.ones(4, 3)
        th.mark_dynamic(x, [0, 1], min=2, max=64)
        f(x)
        self.assertIn("size(0, 0) == s0", th.explain(f, "guards"))
        self.assertIn("size(0, 1) <= 64", th.explain(f, "guards"))
        self.assertEqual(f(th.ones(9, 5)).shape, (9, 5))
        self.assertEqual(len(traced), 1)

    def test_what_cannot_vary_is_an_error_unless_it_only_may(self):
        f = th.compile(lambda x: x * int(x.shape[0]))
        x = th.ones(4)
        th.mark_dynamic(x, 0)
        with self.assertRaisesRegex(th.Error, "is marked to vary and cannot"):
            f(x)
        th.maybe_mark_dynamic(x, 0)
        self.assertEqual(f(x).tolist(), [4, 4, 4, 4])
        th.mark_static(x)
        with self.assertRaises(NotImplementedError):
            th.mark_unbacked(x, 0)
        with self.assertRaisesRegex(TypeError, "a tensor was expected, not int"):
            th.mark_dynamic(3, 0)


if __name__ == "__main__":
    unittest.main()
