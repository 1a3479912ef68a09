"""What may be an argument of a compiled function beside tensors, numbers and containers; and compiled functions as values."""
import copy
import enum
import functools
import pickle
import unittest

import thunder as th
from thunder import nn

x = th.ones(2)


class Scale:
    def __init__(self, by):
        self.by = by

    @th.compile
    def apply(self, x):
        return x * self.by

    @classmethod
    @th.compile
    def of(cls, x):
        return x * 6

    @staticmethod
    @th.compile
    def twice(x):
        return x * 2

    def __call__(self, x):
        return x * self.by


class Rate(float):
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Arguments(unittest.TestCase):
    def gives(self, function, *arguments, wanted):
        compiled = th.compile(function)
        for argument, result in zip(arguments, wanted):
            self.assertEqual(compiled(x, argument).tolist(), result)
        return compiled

    def test_ranges_and_slices_are_what_they_hold(self):
        self.gives(lambda x, r: x * sum(r), range(3), range(2, 4), range(3), wanted=[[3, 3], [5, 5], [3, 3]])
        self.gives(lambda x, s: x[s], slice(0, 1), slice(None), slice(2, None), wanted=[[1], [1, 1], []])

    def test_sets_and_numbers_of_classes_are_guarded_by_value_and_type(self):
        compiled = self.gives(lambda x, s: x * len(s), {1, 2}, {2, 1}, {1}, frozenset({1, 2, 3}), wanted=[[2, 2], [2, 2], [1, 1], [3, 3]])
        self.assertEqual(th.stats(compiled)["misses"], 3)
        self.gives(lambda x, r: x * (10 if isinstance(r, Rate) else 20), Rate(0.5), 0.5, wanted=[[10, 10], [20, 20]])
        self.gives(lambda x, c: x * c.value, Color.BLUE, Color.RED, wanted=[[2, 2], [1, 1]])

    def test_functions_are_guarded_by_identity_and_by_what_they_read(self):
        factor = 3

        def scaled(x):
            return x * factor
        compiled = self.gives(lambda x, f: f(x), scaled, th.neg, scaled, wanted=[[3, 3], [-1, -1], [3, 3]])
        self.assertEqual(th.stats(compiled)["misses"], 2)
        factor = 4
        self.assertEqual(compiled(x, scaled).tolist(), [4, 4])
        self.assertEqual(compiled(x, functools.partial(th.mul, other=th.full([2], 7.0))).tolist(), [7, 7])
        self.assertEqual(compiled(x, functools.partial(th.mul, other=th.full([2], 8.0))).tolist(), [8, 8])

    def test_objects_are_guarded_by_identity_and_by_their_attributes(self):
        compiled, a, b = th.compile(lambda x, p: x * p.by), Scale(3), Scale(4)
        self.assertEqual([compiled(x, p).tolist()[0] for p in (a, b, a)], [3, 4, 3])
        self.assertEqual(th.stats(compiled)["misses"], 2)
        a.by = 5
        self.assertEqual(compiled(x, a).tolist(), [5, 5])
        a.by = th.tensor([1.0, 2.0])
        self.assertEqual(compiled(x, a).tolist(), [1, 2])

    def test_methods_of_plain_classes_are_compiled(self):
        self.assertEqual([Scale(3).apply(x).tolist(), Scale(4).apply(x).tolist(), Scale.of(x).tolist(), Scale.twice(x).tolist()],
                         [[3, 3], [4, 4], [6, 6], [2, 2]])
        self.assertEqual((th.compile(Scale(5).__call__)(x).tolist(), th.compile(Scale(7))(x).tolist()), ([5, 5], [7, 7]))

    def test_generators_give_what_they_yield(self):
        self.assertEqual([one.tolist() for one in th.compile(lambda x: (x * i for i in range(2)))(x)], [[0, 0], [1, 1]])

    def test_what_holds_traced_tensors_is_no_result(self):
        with self.assertRaisesRegex(TypeError, "Scale cannot be a result.*holds tensors that are traced"):
            th.compile(lambda x: Scale(x * 2))(x)

    def test_the_text_of_a_live_float_is_its_number_or_an_error(self):
        for text in (str, "{}".format, lambda s: f"{s}"):
            with self.assertRaisesRegex(th.Error, "of a traced tensor.*Float arguments are live"):
                th.compile(lambda x, s: x * len(text(s)))(x, 0.25)
            self.assertEqual(th.compile(lambda x, s: x * len(text(s)), fullgraph=False)(x, 0.25).tolist(), [4, 4])


class Values(unittest.TestCase):
    def test_compiled_functions_are_copied_and_pickled(self):
        self.assertEqual(copy.deepcopy(th.compile(abs))(-x).tolist(), [1, 1])
        self.assertIs(pickle.loads(pickle.dumps(Scale.twice)), Scale.twice)
        again = pickle.loads(pickle.dumps(th.compile(Scale(3), dynamic=True)))
        self.assertEqual(again(x).tolist(), [3, 3])

    def test_a_compiled_module_is_a_member_of_others(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        compiled = th.compile(net)
        whole = nn.Sequential(compiled, nn.Linear(2, 1))
        self.assertEqual(list(whole.state_dict()), ["0.0.weight", "0.0.bias", "1.weight", "1.bias"])
        self.assertEqual(whole(x).tolist(), whole[1](net(x)).tolist())
        self.assertIs(compiled[0], net[0])
        self.assertEqual([type(child).__name__ for child in compiled], ["Linear", "ReLU"])

        class Holder(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = th.compile(nn.Linear(2, 3))

            def forward(self, x):
                return self.inner(x)
        self.assertEqual((list(Holder().state_dict()), Holder()(x).shape), (["inner.weight", "inner.bias"], (3,)))


if __name__ == "__main__":
    unittest.main()
