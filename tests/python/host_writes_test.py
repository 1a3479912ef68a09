"""What compiled functions write beside their results: attributes, arguments, captured things."""
import collections
import unittest

import numpy as np
import thunder as th
from thunder import nn

th.seed(0)
X = np.ones(2, np.float32)


def first(result):
    return result.tolist()[0]


def misses(f):
    return th.stats(f)["misses"]


class Writes(unittest.TestCase):
    def both(self, make, ways=({}, {"fullgraph": False})):
        """What make(way) gives, where the function is compiled and where it is not."""
        want = make(lambda f: f)
        for options in ways:
            self.assertEqual(make(lambda f: th.compile(f, **options)), want)

    def test_into_attributes_are_done_at_each_call(self):
        class State(nn.Module):
            def __init__(self):
                super().__init__()
                self.h, self.last = th.zeros(2), None
                self.register_buffer("running", th.zeros(2))

            def forward(self, x):
                self.h = self.h + x
                self.running = self.running * 0.5 + x
                self.last = x * 3
                return self.h + self.last + self.running

        def make(way):
            module = State()
            f, x, kept = way(module), th.tensor(X), []
            out = [first(f(x)) for _ in range(4)]
            for _ in range(3):
                f(x)
                kept.append(module.h)
            return out, [first(h) for h in kept], first(module.running), first(module.last), list(module.state_dict())
        self.both(make)
        module = State()
        f = th.compile(module)
        for _ in range(5):
            f(th.tensor(X))
        self.assertLessEqual(misses(f), 2)

    def test_into_arguments_are_done_at_each_call(self):
        def f(d, l):
            d["n"] = d["n"] + 1
            d["t"] = l[0] * 2
            l.append(d["t"])
            l[0] = l[0] + 1
            del d["gone"]

        def make(way):
            d, l, g = {"n": 1, "gone": 0}, [th.tensor(X)], way(f)
            for _ in range(3):
                d["gone"] = 1
                g(d, l)
            return d["n"], first(d["t"]), [first(t) for t in l], "gone" in d
        self.both(make)

    def test_into_captured_things_are_done_at_each_call(self):
        def make(way):
            log, table, last = [], {}, None

            def f(x):
                nonlocal last
                log.append(x.sum())
                table["x"] = x * 2
                last = x + 1
                return x
            g = way(f)
            for step in range(3):
                g(th.tensor(X * step))
            return [t.item() for t in log], first(table["x"]), first(last)
        self.both(make)

    def test_that_cannot_be_repeated_are_refused(self):
        queue = collections.deque()
        with self.assertRaisesRegex(TypeError, "'queue', captured by .* a way that its program cannot repeat"):
            th.compile(lambda x: queue.append(x * 2))(th.tensor(X))
        self.assertFalse(queue)
        with self.assertRaisesRegex(TypeError, "argument .* is shortened"):
            th.compile(lambda l: l.pop() * 1)([th.tensor(X)])

    def test_leave_memory_alone_that_somebody_else_shows(self):
        class State(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", th.zeros(2))

            def forward(self, x):
                self.mean = self.mean * 0.5 + x
                self.seen = x * 2
                return x

        ways = {"a view": lambda t: t[0:], "another shape": lambda t: t.reshape(1, 2), "an element": lambda t: t[1], "detach": lambda t: t.detach(),
                "numpy": lambda t: t.numpy(), "a view of numpy's": lambda t: t.numpy()[1:], "asarray": np.asarray, "DLPack": np.from_dlpack, "a buffer": memoryview,
                "a view of a view": lambda t: t.reshape(2, 1)[1], "itself": lambda t: t, "expanded": lambda t: t.expand(3, 2), "contiguous": lambda t: t.contiguous()}

        def keep(way, take):
            module, kept = State(), []
            f = way(module)
            for step in range(3):
                f(th.tensor(X) + step)
                kept.append((take(module.mean), take(module.seen)))
            return [[np.asarray(one).tolist() for one in pair] for pair in kept]
        for name, take in ways.items():
            with self.subTest(name):
                self.assertEqual(keep(th.compile, take), keep(lambda module: module, take))

    def test_are_no_part_of_a_file(self):
        log = []
        f = th.compile(lambda x: log.append(x * 2))
        f(th.tensor(X))
        with self.assertRaisesRegex(TypeError, "save_program: the function assigns to things of Python"):
            th.save_program(f, "never written")

    def test_of_a_function_that_fails_leave_what_was_there(self):
        log = []

        def f(x):
            log.append(x * 2)
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            th.compile(f)(th.tensor(X))
        self.assertEqual(log, [])


if __name__ == "__main__":
    unittest.main()
