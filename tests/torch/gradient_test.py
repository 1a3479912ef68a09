"""options={"gradient": "thunder"}: backwards of the library's own gradients, beside eager's, and what has none."""
import sys
import unittest

import support

if support.HAVE:
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint

    import thunder

    OWN = {"gradient": "thunder"}


class Doubled(torch.autograd.Function if support.HAVE else object):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


def targets():
    """What the backwards of the graphs that torch holds are made of."""
    return [getattr(node.target, "__name__", "") for program in thunder.torch.programs()
            for node, _ in program.__wrapped__.__self__.nodes if program.__wrapped__.__self__.is_backward]


@support.needs_torch
class Gradients(support.Beside if support.HAVE else unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def trains(self, module, *arguments, tolerance=1e-4):
        """Gradients of the parameters and of arguments that require them, twice: the second call may go past AOTAutograd's wrapper."""
        compiled = support.compiled(module, options=OWN)
        for _ in range(2):
            found = []
            for function in (module, compiled):
                own = support.own(arguments)
                module.zero_grad()
                torch.manual_seed(1)
                support.differentiated(function(*own))
                found.append([*(p.grad.clone() for p in module.parameters()), *(a.grad for a in support.tensors(own) if a.grad is not None)])
            for ours, theirs in zip(found[1], found[0], strict=True):
                torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
        self.assertTrue(any(name.startswith("gradient_of_") for name in targets()))

    def test_layers_norms_and_a_loss(self):
        net = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.SiLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(96), nn.Linear(96, 5))

        class Loss(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, x, y):
                return F.cross_entropy(self.net(x), y)
        self.trains(Loss(), torch.randn(4, 3, 8, 8, requires_grad=True), torch.tensor([0, 1, 2, 3]))

    def test_running_statistics_are_written_once_and_not_read_again(self):
        net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU())
        self.trains(net, torch.randn(8, 4))
        self.assertEqual(net[1].num_batches_tracked.item(), 4)

    def test_attention_and_embeddings(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.qkv = nn.Embedding(11, 8), nn.Linear(8, 24)

            def forward(self, ids):
                q, k, v = self.qkv(self.embed(ids)).view(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
                return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 5, 8)
        self.trains(Net(), torch.randint(0, 11, (2, 5)))

    def test_what_is_used_twice_joined_and_detached(self):
        def function(x, y):
            z = torch.cat([x * y, x.detach() * 3], 1)
            return z.exp().sum(1) * x[:, 0], z.t()[:2]
        self.same(function, torch.randn(3, 4, requires_grad=True), torch.randn(3, 4, requires_grad=True), options=OWN)

    def test_an_input_that_nothing_depends_on_has_zeros(self):
        self.same(lambda x, y: x * y.detach(), torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True), options=OWN)

    def test_dropout_keeps_its_mask(self):
        compiled = support.compiled(lambda x: F.dropout(x, 0.5), options=OWN)
        x = torch.ones(1000, requires_grad=True)
        for _ in range(2):
            x.grad = None
            made = compiled(x)
            made.sum().backward()
            torch.testing.assert_close(x.grad, made.detach())

    def test_what_a_graph_hides_is_refused_by_name(self):
        def without(x):
            with torch.no_grad():
                scale = x.sum()
            return x * scale
        x = torch.randn(4, requires_grad=True)
        for function, said in ((without, "a region without gradients"), (lambda x: Doubled.apply(x), "an autograd.Function"),
                               (lambda x: checkpoint(torch.sin, x, use_reentrant=False), "a checkpoint"),
                               (lambda x: torch.special.airy_ai(x) * x, "the library has no such op"),
                               (lambda x: torch.bernoulli(x.sigmoid()) * x, "it draws random numbers")):
            with self.assertRaises(Exception) as raised:
                support.compiled(function, options=OWN)(x).sum().backward()
            self.assertIn(said, str(raised.exception))
            self.assertIn("gradient_test.py", str(raised.exception))

    def test_a_region_without_gradients_of_what_has_none_is_taken(self):
        def function(x, y):
            with torch.no_grad():
                scale = y.sum()
            return x * scale
        self.same(function, torch.randn(4, requires_grad=True), torch.randn(4), options=OWN)

    def test_another_word_is_an_error(self):
        with self.assertRaisesRegex(Exception, 'gradient: "torch" .* or "thunder"'):
            support.compiled(lambda x: x * 2, options={"gradient": "ours"})(torch.ones(3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
