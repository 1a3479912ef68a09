"""What compiled functions depend on beside their arguments: attributes, captured variables, globals, containers."""
import collections
import functools
import gc
import itertools
import types
import unittest
import weakref

import numpy as np
import thunder as th
from thunder import nn

th.seed(0)
X = np.ones(2, np.float32)
SCALE, COUNT = 2.0, 0
config = types.ModuleType("config")
config.__file__ = "config.py"
config.factor = 3


class Settings:
    kind = 3

    def __init__(self):
        self.factor = 4


def helper(x):
    return x * SCALE


def first(result):
    return result.tolist()[0]


def misses(f):
    return th.stats(f)["misses"]


class Reads(unittest.TestCase):
    def check(self, f, change, before, after):
        for options in ({}, {"fullgraph": False}, {"dynamic": True}):
            compiled = th.compile(f, **options)
            change(before)
            old = first(f(th.tensor(X)))
            self.assertEqual(first(compiled(th.tensor(X))), old)
            change(after)
            self.assertEqual(first(compiled(th.tensor(X))), first(f(th.tensor(X))))
            self.assertNotEqual(first(compiled(th.tensor(X))), old)
            self.assertEqual(misses(compiled), 2, th.last_miss(compiled))
            change(before)
            self.assertEqual(first(compiled(th.tensor(X))), old)
            self.assertEqual(misses(compiled), 2)  # the first program is there still

    def test_sees_captured_variables(self):
        factor = 2

        def change(value):
            nonlocal factor
            factor = value
        self.check(lambda x: x * factor, change, 2, 5)

    def test_sees_globals_of_the_functions_that_are_called(self):
        self.check(lambda x: helper(x), lambda value: globals().update(SCALE=value), 2.0, 7.0)

    def test_sees_functions_that_are_defined_again(self):
        other = helper
        self.check(lambda x: helper(x), lambda value: globals().update(helper=value), other, lambda x: x * 100)
        globals()["helper"] = other

    def test_sees_what_modules_of_python_hold(self):
        self.check(lambda x: x * config.factor, lambda value: setattr(config, "factor", value), 3, 4)

    def test_sees_attributes_of_objects_and_classes(self):
        settings = Settings()
        self.check(lambda x: x * settings.factor, lambda value: setattr(settings, "factor", value), 3, 4)
        self.check(lambda x: x * settings.kind, lambda value: setattr(Settings, "kind", value), 3, 4)
        self.check(lambda x: x * Settings.kind, lambda value: setattr(Settings, "kind", value), 3, 4)

    def test_sees_what_containers_hold(self):
        table, numbers, names = {"k": {"deep": 2}}, [1, 2], {"a"}
        self.check(lambda x: x * table["k"]["deep"], lambda value: table["k"].update(deep=value), 2, 5)
        self.check(lambda x: x * sum(numbers), lambda value: numbers.__setitem__(0, value), 2, 5)
        self.check(lambda x: x * (2 if "b" in names else 3), lambda value: (names.clear(), names.add(value)), "a", "b")

    def test_sees_tensors_that_take_another_ones_place(self):
        table = {}
        self.check(lambda x: x * table["w"], lambda value: table.update(w=value), th.ones(2) * 2, th.ones(2) * 3)

    def test_sees_them_in_methods(self):
        class Scaled:
            def __init__(self):
                self.factor = 2

            def __call__(self, x):
                return self.scaled(x)

            def scaled(self, x):
                return x * self.factor
        scaled = Scaled()
        self.check(scaled, lambda value: setattr(scaled, "factor", value), 2, 3)

    def test_sees_attributes_under_other_names(self):
        class Slots:
            __slots__ = ("factor",)
        settings, slots = Settings(), Slots()

        def get():
            return settings

        def f(x):
            local, several = get(), [slots]
            for other in several:
                x = x * other.factor
            return x * local.factor
        slots.factor = 2
        self.check(f, lambda value: setattr(settings, "factor", value), 3, 4)
        self.check(f, lambda value: setattr(slots, "factor", value), 3, 4)

    def test_sees_what_defaults_and_partial_functions_hold(self):
        def scaled(x, table=[2], *, more={"k": 1}):
            return x * table[0] * more["k"]
        part = functools.partial(lambda x, k: x * k, k=3)
        for f, change, before, after in ((scaled, lambda value: scaled.__defaults__[0].__setitem__(0, value), 2, 5),
                                         (scaled, lambda value: scaled.__kwdefaults__["more"].update(k=value), 1, 7),
                                         (lambda x: part(x), lambda value: part.keywords.update(k=value), 3, 4)):
            self.check(f, change, before, after)

    def test_sees_queues(self):
        queue = collections.deque([1, 2], maxlen=2)
        self.check(lambda x: x * sum(queue), lambda value: queue.extend(value), (1, 2), (2, 9))

    def test_sees_methods_that_are_defined_again(self):
        def twice(self, x):
            return x * 2
        mine = Settings()
        for name in ("method", "shared"):
            self.addCleanup(lambda name=name: hasattr(Settings, name) and delattr(Settings, name))
            two, nine = (twice, lambda self, x: x * 9) if name == "method" else (staticmethod(lambda x: x * 2), staticmethod(lambda x: x * 9))
            self.check(lambda x, name=name: mine.method(x) if name == "method" else mine.shared(x), lambda f, name=name: setattr(Settings, name, f), two, nine)
        self.check(lambda x: mine.method(x), lambda f: vars(mine).update(method=f), lambda x: x * 3, lambda x: x * 5)

        class Net(nn.Module):
            def forward(self, x):
                return self.inner(x)

            def inner(self, x):
                return x * 2
        net = Net()
        self.check(net, lambda f: setattr(Net, "inner", f), lambda self, x: x * 2, lambda self, x: x * 4)
        self.check(net, lambda f: setattr(Net, "forward", f), lambda self, x: x * 6, lambda self, x: x * 7)

    def test_sees_attributes_that_are_asked_for_by_name(self):
        mine = Settings()
        self.check(lambda x, name="factor": x * getattr(mine, name), lambda value: setattr(mine, "factor", value), 4, 6)
        self.check(lambda x: x * (2 if hasattr(mine, "extra") else 3), lambda there: vars(mine).update(extra=1) if there else vars(mine).pop("extra", None), False, True)

    def test_sees_attributes_of_modules_that_were_not_there(self):
        class Net(nn.Module):
            def forward(self, x):
                if not hasattr(self, "factor"):
                    self.factor = 2
                return x * self.factor
        net, x = Net(), th.ones(1)
        f = th.compile(net)
        self.assertEqual((f(x).item(), f(x).item()), (2, 2))
        net.factor = 5
        self.assertEqual((f(x).item(), misses(f)), (5, 3))

    def test_refuses_iterators_that_would_be_read_once(self):
        for numbers in (iter([1, 2]), (n for n in (1, 2)), itertools.count(1), itertools.cycle([1, 2])):
            with self.assertRaisesRegex(TypeError, r"'numbers', captured by .*lambda> is an iterator.* next\(\) outside"):
                th.compile(lambda x: x * next(numbers))(th.ones(1))

    def test_sees_elements_of_numpy_arrays(self):
        array = np.array([2.0, 3.0], np.float32)
        for view in (lambda: array, lambda: array.reshape(2)):
            f = th.compile(lambda x: x * th.tensor(view()) + th.tensor(view(), dtype=th.float64))
            array[:] = 2, 3
            self.assertEqual(f(th.tensor(X)).tolist(), (view() * 2).tolist())
            array[:] = 5, 7
            self.assertEqual(f(th.tensor(X)).tolist(), (view() * 2).tolist())
            self.assertEqual(misses(f), 1)

    def test_sees_what_numpy_computes_of_arrays(self):
        array, backwards = np.array([2.0, 3.0], np.float32), slice(None, None, -1)
        for read in (lambda: array * 2, lambda: array[0], lambda: float(array.sum()), lambda: th.from_numpy(array[backwards])):
            f = th.compile(lambda x: x * read())
            for numbers in ((2, 3), (5, 7), (2, 3)):
                array[:] = numbers
                self.assertEqual(f(th.tensor(X)).tolist(), (th.tensor(X) * read()).tolist())
            self.assertEqual(misses(f), 2)
            self.assertRegex(th.last_miss(f), "elements of 'array', captured by")

    def test_sees_what_numpy_computes_of_the_arrays_of_objects(self):
        settings, net = Settings(), nn.Identity()
        settings.factor = net.factor = np.array([[1.0, 2.0], [3.0, 4.0]])[:, 1]  # with gaps
        for f in (th.compile(lambda x: x * float(settings.factor.sum())), th.compile(lambda x: net(x) * float(net.factor.sum()))):
            for number in (2.0, 5.0):
                settings.factor[0] = number
                self.assertEqual(first(f(th.tensor(X))), number + 4)

    def test_are_named_where_they_changed(self):
        table = {"k": 2}
        f = th.compile(lambda x: x * table["k"])
        f(th.tensor(X))
        table["k"] = 3
        f(th.tensor(X))
        self.assertRegex(th.last_miss(f), "what 'table', captured by .* holds is .*3.* was .*2")

    def test_are_seen_on_tapes(self):
        table = {"k": 2}
        f = th.compile(lambda x: (x * table["k"]).sum())
        for factor in (2, 5):
            table["k"] = factor
            with th.tape():
                x = th.tensor(X)
                gradient, = th.grad_of(f(x), [x])
            self.assertEqual(first(gradient), factor)

    def test_are_seen_by_a_frozen_function(self):
        table = {"k": 2}
        f = th.jit.freeze(th.compile(lambda x: x * table["k"]))
        f(th.tensor(X))
        table["k"] = 5
        self.assertEqual(first(f(th.tensor(X))), 5)

    def test_of_what_a_function_only_counts_are_none(self):
        calls, log = [0], []

        def f(x):
            global COUNT
            COUNT += 1
            calls[0] += 1
            log.append("traced")
            return x * 2
        compiled = th.compile(f)
        for _ in range(3):
            compiled(th.tensor(X))
        self.assertEqual((calls, COUNT, len(log), misses(compiled)), ([1], 1, 1, 1))

    def test_of_a_counter_give_what_uncompiled_code_gives(self):
        calls = [0]

        def f(x):
            calls[0] += 1
            return x * calls[0]
        compiled = th.compile(f)
        self.assertEqual([first(compiled(th.tensor(X))) for _ in range(3)], [1, 2, 3])

    def test_keep_nothing_alive_that_a_cycle_holds(self):
        def made():
            net, box = nn.Linear(2, 2), {}
            box["net"], box["f"] = net, th.compile(lambda x: box["net"](x))
            box["f"](th.tensor(X))
            return weakref.ref(net), weakref.ref(box["f"])
        net, f = made()
        gc.collect()
        self.assertIsNone(net())
        self.assertIsNone(f())


if __name__ == "__main__":
    unittest.main()
