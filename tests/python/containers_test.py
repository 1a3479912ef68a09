"""Modules of modules, parameters as PyTorch lists them, and nn.init."""
# covers: bindings/python/thunder/_init.py
import math
import enum
import unittest

import numpy as np
import thunder as th
from thunder import nn

th.seed(0)  # the same numbers at each run


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(3, 1)
        self.first = nn.Linear(2, 3, bias=False)
        self.scale = nn.Parameter(th.ones(1))
        self.register_buffer("seen", th.zeros(1))

    def forward(self, x):
        return self.last(self.first(x)) * self.scale


class Parameters(unittest.TestCase):
    def test_they_are_in_the_order_of_pytorch(self):
        paths = ["scale", "last.weight", "last.bias", "first.weight"]  # a module's own come first
        net = Net()
        self.assertEqual([path for path, _ in net.named_parameters()], paths)
        self.assertEqual([tensor.shape for tensor in net.parameters()], [(1,), (1, 3), (1,), (3, 2)])
        self.assertEqual(list(net.state_dict()), ["scale", "seen", *paths[1:]])
        self.assertEqual([path for path, _ in net.named_buffers()], ["seen"])
        twelve = nn.Sequential(*(nn.Linear(1, 1) for _ in range(12)))
        self.assertEqual([path for path, _ in twelve.named_parameters()][-2:], ["11.weight", "11.bias"])

    def test_next_gives_the_first(self):
        self.assertEqual(next(Net().parameters()).shape, (1,))
        self.assertEqual(len(list(Net().parameters())), 4)
        self.assertEqual(next(nn.ReLU().parameters(), None), None)

    def test_a_parameter_is_the_tensor_itself(self):
        marked, plain = nn.Parameter(th.ones(2)), th.ones(2)
        self.assertIsInstance(marked, nn.Parameter)
        self.assertNotIsInstance(plain, nn.Parameter)
        self.assertEqual((marked + 1).tolist(), [2, 2])
        net = nn.Module(w=marked)
        net.b = plain
        self.assertEqual([path for path, _ in net.named_parameters()], ["w"])
        self.assertEqual((marked.requires_grad, nn.Parameter(th.ones(1), requires_grad=False).requires_grad, plain.requires_grad), (True, False, False))

    def test_options_are_attributes_and_what_is_left_out_is_none(self):
        net = Net()
        self.assertEqual((net.last.in_features, nn.Conv2d(1, 2, (3, 2)).kernel_size, nn.LayerNorm(2).eps), (3, (3, 2), 1e-05))
        self.assertIsNone(net.first.bias)
        self.assertIsNone(nn.BatchNorm2d(2, affine=False).weight)
        with self.assertRaisesRegex(AttributeError, "has no member 'bias'"):
            nn.ReLU().bias

    def test_members_are_deleted_wherever_they_are_held(self):
        net = Net()
        for name in ("first", "scale"):
            delattr(net, name)
            self.assertFalse(hasattr(net, name))
            self.assertFalse([path for path in net.state_dict() if path.startswith(name)])
        net.note = 1
        del net.note
        self.assertFalse(hasattr(net, "note"))
        net.first = nn.Identity()
        self.assertNotIn("first.weight", net.state_dict())

    def test_modules_are_named_by_path(self):
        self.assertEqual([path for path, _ in nn.Sequential(Net(), nn.ReLU()).named_modules()], ["", "0", "0.last", "0.first", "1"])
        net = nn.Module()
        net.add_module("fc", nn.Linear(1, 1))
        self.assertEqual(net.fc(th.ones(1)).shape, (1,))


class Containers(unittest.TestCase):
    def test_a_module_dict_holds_them_by_name(self):
        net = nn.ModuleDict({"a": nn.Linear(2, 3), "b": nn.ReLU()})
        net["c"] = nn.Linear(3, 1, bias=False)
        self.assertEqual((list(net), len(net), "b" in net, "d" in net), (["a", "b", "c"], 3, True, False))
        self.assertEqual(sorted(net.state_dict()), ["a.bias", "a.weight", "c.weight"])
        x = th.ones(1, 2)
        for _, layer in net.items():
            x = layer(x)
        self.assertEqual(x.shape, (1, 1))
        self.assertIn("(a): Linear(in_features=2", repr(net))
        with self.assertRaisesRegex(KeyError, "did you mean"):
            nn.ModuleDict({"conv": nn.ReLU()})["cnov"]
        for wrong, why in (({"a": 3}, "no module"), ({"keys": nn.ReLU()}, "method")):
            with self.assertRaisesRegex((TypeError, KeyError), why):
                nn.ModuleDict(wrong)

    def test_a_parameter_list_holds_them_by_number(self):
        held = nn.ParameterList([nn.Parameter(th.full([2], float(i))) for i in range(12)])
        self.assertEqual([tensor[0].item() for tensor in held], list(range(12)))
        self.assertEqual((held[-1].tolist(), len(held), len(held[2:4])), ([11, 11], 12, 2))
        held[0] = th.zeros(3)
        held.append(th.ones(1))
        self.assertEqual([tensor.shape for tensor in held.parameters()][::12], [(3,), (1,)])

        class Sum(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ParameterList([nn.Parameter(th.ones(2)), nn.Parameter(th.ones(2))])

            def forward(self, x):
                return sum((part * x for part in self.parts), th.zeros(2))
        net = Sum()
        self.assertEqual([path for path, _ in net.named_parameters()], ["parts.0", "parts.1"])
        gradients = th.grad(lambda x: net(x).sum(), wrt=net.parameters())(th.full([2], 3.0))
        self.assertEqual([g.tolist() for g in gradients], [[3, 3]] * 2)
        with self.assertRaises(IndexError):
            held[50]


class CompiledModules(unittest.TestCase):
    def test_a_compiled_module_has_the_members_of_the_module(self):
        net = Net()
        model = th.compile(net)
        self.assertEqual(model(th.ones(1, 2)).tolist(), net(th.ones(1, 2)).tolist())
        self.assertEqual(len(model.parameters()), 4)
        self.assertIs(model.eval(), net)
        self.assertEqual((model.training, list(model.state_dict())), (False, list(net.state_dict())))
        net.last = nn.Linear(3, 2)
        self.assertIs(model.last, net.last)
        self.assertTrue(repr(model).startswith("<compiled function Net(x): 1 call"), repr(model))
        with self.assertRaisesRegex(AttributeError, "last_mis.*did you mean 'last_miss'"):
            th.compile(lambda x: x).last_mis


class Init(unittest.TestCase):
    def drawn(self, function, *args, shape=(200, 100), **named):
        th.seed(1)
        tensor = th.zeros(shape)
        self.assertIs(function(tensor, *args, **named), tensor)
        return np.asarray(tensor)

    def test_constants(self):
        init = nn.init
        for function, args, value in ((init.zeros_, (), 0), (init.ones_, (), 1), (init.constant_, (2.5,), 2.5)):
            self.assertEqual(set(self.drawn(function, *args).ravel().tolist()), {value})
        np.testing.assert_array_equal(self.drawn(init.eye_, shape=(2, 3)), np.eye(2, 3))

    def test_the_spread_is_that_of_the_formula(self):
        """Bounds of uniform numbers, and deviations, from PyTorch's documentation."""
        init = nn.init
        for function, args, bound in ((init.uniform_, (-0.5, 0.5), 0.5), (init.xavier_uniform_, (), math.sqrt(6 / 300)),
                                      (init.kaiming_uniform_, (math.sqrt(5),), math.sqrt(1 / 100)),
                                      (init.kaiming_uniform_, (0, "fan_out", "relu"), math.sqrt(6 / 200))):
            values = self.drawn(function, *args)
            self.assertLessEqual(abs(values).max(), bound)
            self.assertGreater(abs(values).max(), 0.99 * bound)
            self.assertAlmostEqual(values.std() / bound, 1 / math.sqrt(3), 2)
        for function, args, deviation in ((init.normal_, (0, 2), 2), (init.xavier_normal_, (), math.sqrt(2 / 300)),
                                          (init.kaiming_normal_, (0, "fan_in", "relu"), math.sqrt(2 / 100))):
            self.assertAlmostEqual(self.drawn(function, *args).std() / deviation, 1, 1)
        self.assertEqual(init.calculate_gain("tanh"), 5 / 3)
        convolution = self.drawn(init.kaiming_uniform_, 1, shape=(8, 4, 3, 3))
        self.assertLessEqual(abs(convolution).max(), math.sqrt(3 / 36))

    def test_normal_numbers_are_cut_off(self):
        values = self.drawn(nn.init.trunc_normal_, 0, 1, -0.5, 1)
        self.assertTrue(((values >= -0.5) & (values <= 1)).all())
        tail = self.drawn(nn.init.trunc_normal_, 0, 1, 4, 5, shape=(20, 20))
        self.assertTrue(((tail >= 4) & (tail <= 5)).all())

    def test_orthogonal_rows_or_columns(self):
        for shape in ((4, 9), (9, 4), (4, 3, 3)):
            matrix = self.drawn(nn.init.orthogonal_, 2, shape=shape).reshape(shape[0], -1)
            product = matrix @ matrix.T if shape[0] <= matrix.shape[1] else matrix.T @ matrix
            np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)

    def test_what_cannot_be_is_refused(self):
        for call, why in ((lambda: nn.init.xavier_normal_(th.ones(3)), "xavier_normal_: .*two dims"), (lambda: nn.init.eye_(th.ones(3)), "two dims"),
                          (lambda: nn.init.calculate_gain("relux"), "relux.*did you mean 'relu'"), (lambda: nn.init.kaiming_normal_(th.ones(2, 2), mode="x"), "mode")):
            with self.assertRaisesRegex(th.Error, why):
                call()


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mode(str, enum.Enum):
    SUM = "sum"
    MEAN = "mean"


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Members(unittest.TestCase):
    """Of an Enum: constants of their class, inside of compiled functions too."""

    def test_a_member_is_itself_inside_and_guarded(self):
        for given, other in ((Level.HIGH, Level.LOW), (Mode.SUM, Mode.MEAN), (Rights.READ | Rights.WRITE, Rights.READ)):
            for options in ({}, {"dynamic": True}, {"fullgraph": False}):
                f = th.compile(lambda x, member, given=given: (x * (10 if member is given or member == given else 20), isinstance(member, type(given)), member), **options)
                for member in (given, other, given):
                    value, same, back = f(th.ones(1), member)
                    self.assertEqual((value.item(), same, back), (10 if member == given else 20, True, member))


if __name__ == "__main__":
    unittest.main()
