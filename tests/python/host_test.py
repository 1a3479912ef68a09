"""What compiled functions depend on beside their arguments: attributes, captured variables, globals, containers, options of layers;
and what they write there."""
import collections
import functools
import gc
import itertools
import types
import unittest
import warnings
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


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor, self.flag, self.sizes = 2.0, True, [1]
        self.inner, self.several, self.named = nn.Identity(), nn.ModuleList([nn.Identity()]), nn.ModuleDict({"a": nn.Identity()})
        self.seen = 0

    def forward(self, x):
        x = self.inner(x) * self.factor if self.flag else x
        for layer in [*self.several, *self.named.values()]:
            x = layer(x)
        return x + sum(self.sizes)


class Modules(unittest.TestCase):
    changes = {
        "a number": lambda m: setattr(m, "factor", 5.0), "a flag": lambda m: setattr(m, "flag", False),
        "a list": lambda m: m.sizes.append(3), "a member": lambda m: setattr(m, "inner", nn.ReLU()),
        "a member of a list": lambda m: m.several.__setitem__(0, nn.Threshold(9, 7)), "a longer list": lambda m: m.several.append(nn.Threshold(9, 7)),
        "a longer dict": lambda m: m.named.update({"b": nn.Threshold(9, 7)}),
        "a hook": lambda m: m.inner.register_forward_hook(lambda module, args, output: output * 0),
        "a forward": lambda m: setattr(m, "forward", lambda x: x * 100),
    }

    def test_are_seen_to_change(self):
        for name, change in self.changes.items():
            for way in (th.compile, lambda m: th.compile(m, fullgraph=False), lambda m: th.compile(lambda x: m(x)), lambda m: m.compile() or m):
                with self.subTest(name):
                    module = Own()
                    x, f = th.tensor([-1.0, 2.0]), way(module)
                    f(x)
                    change(module)
                    other = Own()
                    change(other)
                    self.assertEqual(f(x).tolist(), other(x).tolist())

    def test_hold_whatever_else_is_set(self):
        module = Own()
        f = th.compile(module)
        for step in range(5):
            module.seen, module.note = step, str(step)  # which no code reads
            f(th.tensor(X))
        self.assertEqual(misses(f), 1)

    def test_options_of_layers_are_live(self):
        for way in (lambda m: m, th.compile, lambda m: th.compile(m, fullgraph=False)):
            dropout, norm, softmax = nn.Dropout(0.5), nn.LayerNorm(2), nn.Softmax(dim=0)
            calls = [way(m) for m in (dropout, norm, softmax)]
            for f in calls:
                f(th.ones(2, 2))
            dropout.p, norm.eps, softmax.dim = 0.0, 3.0, 1
            self.assertEqual(calls[0](th.ones(2, 2)).tolist(), [[1, 1], [1, 1]])
            np.testing.assert_allclose(calls[1](th.tensor([[-1.0, 1.0]])), [[-0.5, 0.5]], rtol=1e-6)
            np.testing.assert_allclose(calls[2](th.tensor([[0.0, 0.0], [0.0, 0.0]])).sum(1), [1, 1])
            self.assertEqual((dropout.p, norm.eps, softmax.dim), (0.0, 3.0, 1))

    def test_options_that_make_a_layer_are_refused(self):
        layer = nn.Linear(2, 3)
        with self.assertRaisesRegex(th.Error, r"in_features is 2 and decides .* Linear\(in_features=5, ...\)"):
            layer.in_features = 5
        with self.assertRaisesRegex(th.Error, r"p must lie in \[0, 1\]"):
            nn.Dropout(0.5).p = 2.0

    def test_a_bias_that_becomes_none_is_added_no_more(self):
        layer = nn.Linear(2, 3)
        f = th.compile(layer)
        f(th.tensor(X))
        layer.bias = None
        want = np.asarray(layer.weight) @ X
        np.testing.assert_allclose(layer(th.tensor(X)), want, rtol=1e-6)
        np.testing.assert_allclose(f(th.tensor(X)), want, rtol=1e-6)
        self.assertIsNone(layer.bias)
        self.assertEqual(list(layer.state_dict()), ["weight"])
        layer.bias = nn.Parameter(th.ones(3))
        np.testing.assert_allclose(f(th.tensor(X)), want + 1, rtol=1e-6)

    def test_sizes_of_convolutions_are_those_of_each_dim(self):
        layer = nn.Conv2d(1, 2, 3, padding="same")
        self.assertEqual((layer.kernel_size, layer.stride, layer.dilation, layer.padding), ((3, 3), (1, 1), (1, 1), "same"))

    def test_tensors_of_modules_are_one_object(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        weight = net[0].weight
        self.assertIs(weight, net[0].weight)
        self.assertIs(weight, net.parameters()[0])
        self.assertIs(weight, net.state_dict()["0.weight"])
        self.assertEqual({weight: 1}[net[0].weight], 1)
        self.assertTrue(isinstance(weight, nn.Parameter) and not isinstance(net[1].running_mean, nn.Parameter))
        weight.note, kept = "mine", weakref.ref(weight)
        del weight
        gc.collect()
        self.assertEqual((net[0].weight.note, kept()), ("mine", net[0].weight))
        given = nn.Parameter(th.ones(2, 2))
        net[0].weight = given
        self.assertIs(net[0].weight, given)


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


class Seeds(unittest.TestCase):
    def test_give_the_same_numbers_compiled_and_not(self):
        def draws():
            return [th.rand(3), th.randn(5), th.dropout(th.ones(8), 0.5, True), th.randperm(6), th.randint(0, 9, [4])]
        for options in ({}, {"fullgraph": False}, {"dynamic": True}):
            th.seed(3)
            want = [[t.tolist() for t in draws()] for _ in range(3)]
            f = th.compile(draws, **options)
            th.seed(3)
            self.assertEqual([[t.tolist() for t in f()] for _ in range(3)], want)

    def test_go_on_behind_parts_of_a_function(self):
        def f():
            a = th.rand(2)
            a.sum().item()
            return a, th.rand(2), th.rand(2)
        g = th.compile(f, fullgraph=False)
        th.seed(3)
        want = [[t.tolist() for t in f()] for _ in range(2)]
        th.seed(3)
        self.assertEqual([[t.tolist() for t in g()] for _ in range(2)], want)

    def test_inside_act_at_each_call_or_are_refused(self):
        def f():
            th.seed(3)
            return th.rand(2)
        g = th.compile(f, fullgraph=False)
        self.assertEqual(g().tolist(), g().tolist())
        with self.assertRaisesRegex(th.Error, "fullgraph=False, where it acts at each call"):
            th.compile(f)()


if __name__ == "__main__":
    unittest.main()
