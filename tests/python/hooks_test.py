"""Hooks of a module's forward, and a layer's forward inside of the one that replaced it."""
import copy
import unittest

import thunder as th
from thunder import nn

th.seed(0)  # the same numbers at each run


class Doubled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


class Named(nn.Module):
    def forward(self, x, *, shift=0.0):
        return x + shift


def ones(rows=1):
    return th.ones(rows, 2)


class Hooks(unittest.TestCase):
    def same(self, got, wanted):
        self.assertEqual(got.tolist(), wanted.tolist())

    def test_a_forward_of_ones_own_calls_the_layers(self):
        layer = Doubled(2, 2)
        wanted = th.linear(ones(), layer.weight, layer.bias) * 2
        self.same(layer(ones()), wanted)
        self.same(layer.forward(ones()), wanted)
        self.same(nn.Sequential(layer, nn.Identity())(ones()), wanted)
        self.same(th.compile(lambda x: layer(x))(ones()), wanted)
        self.same(th.compile(nn.Sequential(layer))(ones()), wanted)

    def test_hooks_see_arguments_and_output_in_order(self):
        layer, seen = Named(), []
        layer.register_forward_pre_hook(lambda m, args: seen.append(("before", m is layer, args[0].tolist())))
        layer.register_forward_hook(lambda m, args, y: seen.append(("after", m is layer, y.tolist())))
        layer.register_forward_hook(lambda m, args, y: seen.append("first"), prepend=True)
        self.same(layer(ones(), shift=1.0), ones() + 1)
        self.assertEqual(seen, [("before", True, [[1, 1]]), "first", ("after", True, [[2, 2]])])

    def test_hooks_replace_arguments_and_output(self):
        layer = Named()
        layer.register_forward_pre_hook(lambda m, args: args[0] * 3)
        layer.register_forward_hook(lambda m, args, y: y + args[0])
        self.same(layer(ones()), ones() * 6)
        layer = Named()
        layer.register_forward_pre_hook(lambda m, args, named: (args, {"shift": named["shift"] * 2}), with_kwargs=True)
        layer.register_forward_hook(lambda m, args, named, y: y * named["shift"], with_kwargs=True)
        self.same(layer(ones(), shift=2.0), ones() * 20)

    def test_hooks_of_layers_run_inside_of_others(self):
        net, calls = nn.Sequential(nn.Linear(2, 2), Doubled(2, 2)), []
        wanted = net(ones())
        for number, layer in enumerate(net.children()):
            layer.register_forward_hook(lambda m, args, y, number=number: calls.append(number))
        self.same(net(ones()), wanted)
        self.assertEqual(calls, [0, 1])
        self.same(net[0](ones()), th.linear(ones(), net[0].weight, net[0].bias))
        self.assertEqual(calls, [0, 1, 0])

    def test_hooks_are_traced_and_traced_again_when_removed(self):
        layer = nn.Linear(2, 2)
        compiled = th.compile(layer)
        plain = compiled(ones())
        with layer.register_forward_hook(lambda m, args, y: y + 1):
            self.same(compiled(ones()), plain + 1)
        self.same(compiled(ones()), plain)
        self.same(layer(ones()), plain)

    def test_copies_have_the_hooks(self):
        layer = nn.Linear(2, 2)
        handle = layer.register_forward_hook(lambda m, args, y: y + 1)
        other = copy.deepcopy(layer)
        handle.remove()
        self.same(other(ones()), layer(ones()) + 1)

    def test_what_is_no_hook_is_refused(self):
        with self.assertRaisesRegex(TypeError, "a hook must be a function, got int"):
            Named().register_forward_hook(3)
        layer = Named()
        layer.register_forward_pre_hook(lambda m, args, named: 3, with_kwargs=True)
        with self.assertRaisesRegex(TypeError, r"None or a tuple of \(args, kwargs\), got int"):
            layer(ones())


if __name__ == "__main__":
    unittest.main()
