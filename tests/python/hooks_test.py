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

    def test_a_hook_that_is_always_called_sees_failures(self):
        layer, seen = Named(), []
        layer.register_forward_hook(lambda m, args, y: seen.append("not when it fails"))
        layer.register_forward_hook(lambda m, args, y: seen.append((args[0].shape, y)), always_call=True)
        with self.assertRaisesRegex(TypeError, "wrong"):
            layer(ones(), wrong=1.0)
        self.assertEqual(seen, [((1, 2), None)])
        layer.register_forward_hook(lambda m, args, y: 1 / 0, always_call=True)
        with self.assertWarnsRegex(UserWarning, "ZeroDivisionError"), self.assertRaisesRegex(TypeError, "wrong"):
            layer(ones(), wrong=1.0)

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


class BackwardHooks(unittest.TestCase):
    def setUp(self):
        self.net, self.seen = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), []
        self.x = th.tensor([[1.0, -2.0], [0.5, 3.0]])

    def gradients(self, wrt=None, compiled=False):
        def run(x):
            return th.grad_of(self.net(x).sum(), self.net.parameters() if wrt is None else [x])
        if compiled:
            return [g.tolist() for g in th.compile(run)(self.x)]
        with th.tape():
            return [g.tolist() for g in run(self.x)]

    def test_hooks_see_the_gradients_of_inputs_and_outputs(self):
        plain, first, last = self.gradients(), self.net[0], self.net[2]
        last.register_full_backward_hook(lambda m, inputs, outputs: self.seen.append((m is last, inputs[0].tolist(), outputs[0].tolist())))
        first.register_full_backward_hook(lambda m, inputs, outputs: self.seen.append((m is first, inputs, outputs[0].shape)))
        self.assertEqual(self.gradients(), plain)
        weight = last.weight.tolist()
        self.assertEqual(self.seen, [(True, weight * 2, [[1.0], [1.0]]), (True, (None,), (2, 3))], "the parameters alone are asked for")
        self.seen.clear()
        self.gradients(wrt="x")
        self.assertEqual([inputs[0].shape for _, inputs, _ in self.seen[1:]], [(2, 2)])

    def test_hooks_replace_gradients(self):
        for compiled in (False, True):
            plain = self.gradients(compiled=compiled)
            with self.net[2].register_full_backward_pre_hook(lambda m, outputs: (outputs[0] * 2,)):
                twice = self.gradients(compiled=compiled)
                with self.net[2].register_full_backward_hook(lambda m, inputs, outputs: (inputs[0] * 0,)):
                    stopped = self.gradients(compiled=compiled)
            self.assertEqual(twice[3], [2 * x for x in plain[3]])
            self.assertEqual(stopped, [[[0.0] * 2] * 3, [0.0] * 3, *twice[2:]])
            self.assertEqual(self.gradients(compiled=compiled), plain)

    def test_a_module_with_several_results_and_arguments(self):
        class Pair(nn.Module):
            def forward(self, a, name, b):
                return a * 2, b * 3
        pair = Pair()
        pair.register_full_backward_hook(lambda m, inputs, outputs: self.seen.append((inputs, outputs)))
        a, b = ones(), ones()
        with th.tape():
            first, second = pair(a, "name", b)
            th.grad_of((first * 5).sum(), [a, b])
        inputs, outputs = self.seen[0]
        self.assertEqual([None if g is None else g.tolist() for g in inputs], [[[10, 10]], None, [[0, 0]]])
        self.assertEqual([g.tolist() for g in outputs], [[[5, 5]], [[0, 0]]])

    def test_a_gradient_of_a_gradient_calls_them_once_more(self):
        self.net[2].register_full_backward_hook(lambda m, inputs, outputs: self.seen.append(m))
        with th.tape():
            first = th.grad_of((self.net(self.x) ** 2).sum(), [self.x])[0]
            self.assertEqual(len(self.seen), 1)
            th.grad_of((first ** 2).sum(), [self.x])
        self.assertEqual(len(self.seen), 2)

    def test_what_is_wrong_is_told(self):
        self.net[2].register_full_backward_hook(lambda m, inputs, outputs: (inputs[0], inputs[0]))
        with self.assertRaisesRegex(RuntimeError, "gave 2 gradients of the inputs, there are 1"):
            self.gradients()
        with self.assertRaisesRegex(AttributeError, "register_full_backward_hook"):
            self.net.register_backward_hook(print)
        layer = Named()
        layer.register_full_backward_hook(lambda m, inputs, outputs: None)
        layer.set_forward(lambda self, x: {"y": x})
        with th.tape(), self.assertWarnsRegex(UserWarning, "this one gave dict"):
            layer(ones())


if __name__ == "__main__":
    unittest.main()
