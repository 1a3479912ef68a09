"""What compiled functions depend on of modules: their members, options, forwards and hooks."""
import gc
import unittest
import weakref

import numpy as np
import thunder as th
from thunder import nn

th.seed(0)
X = np.ones(2, np.float32)


def misses(f):
    return th.stats(f)["misses"]


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


if __name__ == "__main__":
    unittest.main()
