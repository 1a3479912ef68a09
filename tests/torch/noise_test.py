"""Noise of one unit in the last place, as models_test.py counts it: a tie that flips is noise, planted errors are not."""
import copy
import sys
import unittest

import models_test
import support

if support.HAVE:
    import torch
    from torch import nn

    class Tied(nn.Module):
        """ReLUs whose inputs are one unit in the last place: their gradients are there, or not."""

        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(8))
            self.register_buffer("bias", torch.full((8,), 1 - 2.0**-24))

        def forward(self, x):
            return torch.relu(self.weight * x - self.bias.to(torch.float32))

    class Net(nn.Module):
        """Convolutions with ReLUs and norms, none of which has a tie."""

        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3), nn.BatchNorm2d(4), nn.ReLU())

        def forward(self, x):
            return self.body(x)

    class _Masked(torch.autograd.Function):
        """A ReLU whose gradient leaves out what is small, too."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, gradient):
            x, = ctx.saved_tensors
            return gradient * (x > 0.05)


def _masked(x):
    return _Masked.apply(x)


def tied():
    return Tied(), dict(x=torch.ones(8))


def net():
    return Net(), dict(x=torch.randn(2, 3, 8, 8))


def lowered(graph, inputs):
    """Reads parameters one unit in the last place below what they are: what a sum in another order may do."""
    def below(value):
        if not isinstance(value, nn.Parameter):
            return value
        return value + (torch.nextafter(value, torch.full_like(value, -torch.inf)) - value).detach()
    return lambda *values: graph(*map(below, values))


def scaled(when):
    """Gradients are a thousandth larger than they should be, in the dtypes that `when` says."""
    def backend(graph, inputs):
        def larger(value):
            return value + 0.001 * (value - value.detach()) if when(value.dtype) else value
        return lambda *values: tuple(map(larger, graph(*values)))
    return backend


def masked(graph, inputs):
    graph = copy.deepcopy(graph)
    for node in graph.graph.nodes:
        if node.op == "call_function" and node.target in (torch.relu, nn.functional.relu):
            node.target, node.args, node.kwargs = _masked, node.args[:1], {}
    graph.recompile()
    return graph


@support.needs_torch
class Noise(unittest.TestCase):
    def outcome(self, make, backend):
        found = models_test.too_far(make, 0, True, backend)
        if not found:
            return "agrees"
        return "within noise" if models_test.within_noise(make, 0, True, found, backend) else "differs"

    def test_one_unit_in_the_last_place_is_noise(self):
        self.assertEqual(self.outcome(tied, lowered), "within noise")

    def test_agrees_without_an_error(self):
        self.assertEqual(self.outcome(net, "aot_eager"), "agrees")
        self.assertEqual(self.outcome(net, "thunder"), "agrees")

    def test_finds_a_gradient_larger_by_a_thousandth(self):
        self.assertEqual(self.outcome(net, scaled(lambda dtype: True)), "differs")

    def test_finds_a_gradient_larger_by_a_thousandth_in_float32_alone(self):
        self.assertEqual(self.outcome(net, scaled(lambda dtype: dtype == torch.float32)), "differs")

    def test_finds_a_gradient_larger_by_a_thousandth_among_ties(self):
        def both(graph, inputs):
            return scaled(lambda dtype: True)(lowered(graph, inputs), inputs)
        self.assertEqual(self.outcome(tied, both), "differs")

    def test_finds_a_wrong_mask(self):
        self.assertEqual(self.outcome(net, masked), "differs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
