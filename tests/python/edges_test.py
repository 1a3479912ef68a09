"""The options name, sharp_edges, transforms, recipe, plugins and debug_options: programs on which they make a difference."""
import random
import time
import unittest
import warnings

import numpy
from numpy.random import default_rng

import thunder as th

X = th.tensor([1.0, 2.0])
generator = default_rng(0)
many = [[0] for _ in range(2000)]


def noisy(x):
    return x * random.uniform(1, 2)


def timed(x):
    return x + time.monotonic()


def printed(x):
    if x.shape[0] == 2:
        print(end="")
    return x + 1


def drawn(x):
    return x * numpy.random.rand()


def generated(x):
    return x * generator.normal()


def long(x):
    return x * len(many)


def plain(x):
    return (x.exp() * 2 + th.rand(2)).sum()


class SharpEdges(unittest.TestCase):
    def refusal(self, function):
        with self.assertRaises(th.Error) as caught:
            th.compile(function, sharp_edges="error")(X)
        return str(caught.exception)

    def test_an_error_names_what_is_called_once_with_its_line(self):
        self.assertRegex(self.refusal(noisy), r"noisy: sharp_edges: random\.uniform\(\) is called once, while the function is traced "
                                              r"\[at .*edges_test\.py:18\]; give it as an argument")
        self.assertRegex(self.refusal(timed), r"time\.monotonic\(\) is called once.*edges_test\.py:22")
        self.assertRegex(self.refusal(printed), r"print\(\) is called once.*edges_test\.py:27")

    def test_numbers_of_numpy_s_are_seen_too(self):
        self.assertRegex(self.refusal(drawn), r"numpy\.random\.rand\(\) is called once.*edges_test\.py:31")
        self.assertRegex(self.refusal(generated), r"Generator\.normal\(\) is called once")

    def test_what_is_too_much_to_be_checked_is_one(self):
        self.assertIn("what global 'many' holds is too much to be followed", self.refusal(long))

    def test_what_a_call_checks_or_does_is_none(self):
        th.compile(plain, sharp_edges="error")(X)
        th.compile(printed, sharp_edges="error")(th.ones(3))  # the branch that prints is not taken

    def test_a_warning_comes_with_each_trace(self):
        f = th.compile(noisy, sharp_edges="warn")
        with self.assertWarnsRegex(RuntimeWarning, r"noisy at .*edges_test\.py:18: random\.uniform\(\) is called once") as seen:
            f(X)
            f(X)
        self.assertEqual(len(seen.warnings), 1)

    def test_without_the_option_a_warning_comes_once_and_nothing_where_it_allows(self):
        f = th.compile(noisy)
        with self.assertWarnsRegex(RuntimeWarning, r"sharp_edges: random\.uniform\(\) is called once") as seen:
            f(X)
            f(th.ones(3))
        self.assertEqual(len(seen.warnings), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            th.compile(noisy, sharp_edges="allow")(X)


class Names(unittest.TestCase):
    def test_a_function_is_called_as_it_is_named(self):
        f = th.compile(plain, name="decoder")
        th.set_logs("memory")
        with self.assertLogs("thunder.memory") as seen:
            f(X)
        th.set_logs()
        self.assertIn(" decoder at ", seen.output[0])
        self.assertIn("decoder", str(th.last_traces(f)[0]).splitlines()[0])

    def test_transforms_are_passes(self):
        tripled = th.Pass("tripled", lambda trace: [line.replace(lambda x: x * 3) for line in trace if line.op == "exp"], before="grad")
        self.assertEqual(th.compile(th.exp, transforms=[tripled])(X).tolist(), [3, 6])

    def test_names_of_lightning_s_are_options(self):
        f = th.compile(plain, plugins=["reduce-overhead"], recipe="auto")
        f(X)
        self.assertIn("use_cudagraphs", str(th.last_compile_options(f)))
        th.compile(plain, debug_options={"check_traces": True})(X)
        with self.assertRaisesRegex(th.Error, "option 'plugins' = \"fsdp\" is not there: a program runs on one device"):
            th.compile(plain, plugins=["fsdp"])
        with self.assertRaisesRegex(th.Error, "recipe.*hf-transformers.*torch.compile"):
            th.compile(plain, recipe="hf-transformers")

    def test_default_executors_are_those_that_are_set(self):
        built_in = th.get_default_executors()
        self.assertEqual((built_in[-1], th.get_always_executors()), ("host", ["host"]))
        self.assertLessEqual(set(built_in), set(th.get_all_executors()))
        self.assertEqual(th.get_executor("fusion")["name"], "fusion")
        self.assertIsNone(th.get_executor("fission"))
        try:
            th.set_default_executors(["products"])
            self.assertEqual(th.get_default_executors(), ["products", "host"])
            f = th.compile(lambda x: (x @ x).exp())
            f(th.ones(2, 2))
            self.assertEqual(th.get_executor("fusion")["default"], 0)
            self.assertIn("by host", str(th.last_traces(f)[-1]))
            with self.assertRaisesRegex(th.Error, "unknown executor 'fusoin'"):
                th.set_default_executors(["fusoin"])
        finally:
            th.set_default_executors()
        self.assertEqual(th.get_default_executors(), built_in)

    def test_deterministic_excludes_what_is_measured(self):
        with self.assertRaisesRegex(th.Error, "option 'deterministic' asks for max_autotune = false"):
            th.compile(plain, deterministic=True, mode="max-autotune")
        f = th.compile(lambda x: (x @ x).sum(), deterministic=True)
        x = th.randn(200, 200)
        self.assertEqual(f(x).item(), f(x).item())


if __name__ == "__main__":
    unittest.main()
