"""Copies of modules, and modules in another dtype."""
import copy
import pickle
import unittest
import weakref

import thunder as th
from thunder import nn
from small_net import Net

th.seed(0)  # the same numbers at each run


class Copies(unittest.TestCase):
    def test_modules_are_not_pickled(self):
        with self.assertRaisesRegex(TypeError, "Linear: .*deepcopy"):
            pickle.dumps(nn.Linear(2, 2))

    def test_a_deep_copy_computes_the_same_and_shares_nothing(self):
        net = Net()
        net.sizes, net.again = [1], net.fc1
        made = copy.deepcopy(net)
        x = th.randn(2, 3)
        wanted = net(x).tolist()
        self.assertEqual(made(x).tolist(), wanted)
        self.assertIsInstance(made, Net)
        self.assertIs(made.fc1, made.again)
        self.assertIsNot(made.sizes, net.sizes)
        self.assertEqual(list(made.state_dict()), list(net.state_dict()))
        for tensor in net.parameters():
            tensor.copy_(th.zeros_like(tensor))
        self.assertEqual(th.compile(made)(x).tolist(), wanted)
        both = copy.deepcopy([net.fc1, net])
        self.assertIs(both[0], both[1].fc1)
        both[0].weight.copy_(th.ones(4, 3))
        self.assertEqual(both[1].state_dict()["fc1.weight"].tolist(), th.ones(4, 3).tolist())
        own = nn.Module(fc=nn.Linear(3, 1))
        own.set_forward(lambda self, y: self.fc(y))
        made = copy.deepcopy(own)
        wanted = own(x).tolist()
        own.fc.weight.copy_(th.zeros(1, 3))
        self.assertEqual(made(x).tolist(), wanted)

    def test_a_deep_copy_and_another_dtype_train_what_the_module_trains(self):
        def state(net):
            return {name: (p.requires_grad, isinstance(p, nn.Parameter), None if p.grad is None else p.grad.tolist()) for name, p in net.named_parameters()}
        net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        net[0].weight.requires_grad_(False)
        net[2].weight.note = "mine"
        with th.tape():
            net(th.ones(2, 3)).sum().backward()
        net[1].running_mean.requires_grad_()
        self.assertIsNone(net[0].weight.grad)
        self.assertIsNotNone(net[2].weight.grad)
        made, (twice, weight), (alone, again) = copy.deepcopy(net), copy.deepcopy([net, net[2].weight]), copy.deepcopy([net[2].weight, net])
        for one in (made, twice, again):
            self.assertEqual(state(one), state(net))
            self.assertTrue(one[1].running_mean.requires_grad)
            self.assertEqual(one[2].weight.note, "mine")
        self.assertIs(twice[2].weight, weight)
        self.assertIs(again[2].weight, alone)
        made[2].bias.grad.zero_(), made[0].weight.requires_grad_()
        self.assertFalse(net[0].weight.requires_grad)
        self.assertTrue(net[2].bias.grad.abs().sum().item() > 0)
        half = copy.deepcopy(net).to(th.bfloat16)
        self.assertEqual({name: row[:2] for name, row in state(half).items()}, {name: row[:2] for name, row in state(net).items()})
        self.assertIs(half[2].weight.grad.dtype, th.bfloat16)
        given = {name: th.zeros_like(t) for name, t in net.state_dict().items()}
        net.load_state_dict(given, assign=True)
        self.assertEqual([p.requires_grad for p in net.parameters()], [False] + [True] * 5)

    def test_a_deep_copy_has_the_hooks_of_the_module(self):
        seen = []

        class Hooked(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Identity()

            def forward(self, x):
                return self.inner(x)
        net = Hooked()
        handles = [net.register_forward_hook(lambda module, args, output: seen.append(module) or output * 2), net.inner.register_forward_pre_hook(lambda module, args: args[0] + 1),
                   net.inner.register_full_backward_hook(lambda module, given, came: (given[0] * 3,))]
        x = th.ones(2)
        wanted, gradient = net(x).tolist(), th.grad(lambda y: net(y).sum())(x).tolist()
        made = copy.deepcopy(net)
        for handle in handles:
            handle.remove()
        self.assertEqual((made(x).tolist(), th.compile(made)(x).tolist()), (wanted, wanted))
        self.assertEqual(th.grad(lambda y: made(y).sum())(x).tolist(), gradient)
        self.assertIs(seen[-1], made)
        self.assertEqual(net(x).tolist(), [1, 1])

    def test_another_dtype_lets_the_old_tensors_go(self):
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(th.ones(3))

        net = nn.Sequential(Scale(), Scale())
        old = [weakref.ref(p) for p in net.parameters()]
        net.to(th.bfloat16)
        self.assertEqual([p() for p in old], [None, None])
        self.assertIs(net[0].weight, next(iter(net.parameters())))

    def test_modules_take_another_dtype(self):
        net = Net()
        self.assertIs(net.to(th.bfloat16), net)
        self.assertEqual({tensor.dtype for tensor in net.parameters()}, {th.bfloat16})
        self.assertEqual(net(th.ones(1, 3).bfloat16()).dtype, th.bfloat16)
        self.assertEqual(net.double().to("cpu", dtype=th.float32).fc1.weight.dtype, th.float32)
        self.assertEqual(net.to("cpu", th.float64).fc1.weight.dtype, th.float64)
        with self.assertRaises((TypeError, th.Error)):
            net.to(th.int64)
        self.assertEqual(net.fc1.weight.dtype, th.float64)


if __name__ == "__main__":
    unittest.main()
