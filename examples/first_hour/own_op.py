#!/usr/bin/env python3
"""An op of one's own with its gradient, where PyTorch has autograd.Function: a rounding that gradients pass, in a network that quantizes
its weights as it trains.

    python3 own_op.py [--device cuda] [--steps N]
"""
import argparse

import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim


@th.op("example.round_through(tensor x) -> tensor", vjp=lambda ctx, g: g)
def round_through(x):
    """Rounds; the gradient is that of the identity."""
    return th.round(x)


class QuantizedLinear(nn.Linear):
    """Its weight has one of 15 values in each row."""

    def forward(self, x):
        scale = self.weight.detach().abs().amax(1, keepdim=True) / 7
        return F.linear(x, round_through(self.weight / scale) * scale, self.bias)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    th.manual_seed(0)
    net = nn.Sequential(QuantizedLinear(2, 32), nn.ReLU(), QuantizedLinear(32, 1)).to(options.device)
    opt = optim.Adam(net.parameters(), lr=1e-2)

    @th.compile  # the whole step is one program; the op in it, too
    def step(x, y):
        loss = F.mse_loss(net(x)[:, 0], y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        return loss

    first = None
    for number in range(options.steps):
        x = th.rand(128, 2, device=options.device) * 2 - 1
        loss = step(x, x[:, 0] * x[:, 1]).item()
        first = first or loss
        if number % 50 == 49:
            print(f"step {number + 1}: loss {loss:.4f}")
    x = th.tensor([1.4, -2.6], requires_grad=True)
    with th.tape():
        round_through(x).sum().backward()
    assert round_through(x).tolist() == [1, -3] and x.grad.tolist() == [1, 1]
    assert loss < first / 2, (first, loss)


if __name__ == "__main__":
    main()
