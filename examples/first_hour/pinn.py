#!/usr/bin/env python3
"""A network that solves u'' = -u, u(0) = 0, u'(0) = 1 by its residual, and so becomes the sine: gradients of gradients.

    python3 pinn.py [--device cuda] [--steps N]
"""
import argparse
import math

import thunder as th
from thunder import nn, optim


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    device = options.device
    th.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    opt = optim.Adam(net.parameters(), lr=3e-3)
    t = th.linspace(0, math.pi, 64, device=device).reshape(-1, 1).requires_grad_()
    zero = th.zeros(1, 1, device=device).requires_grad_()

    def derivative(y, x):
        return th.autograd.grad(y, x, grad_outputs=th.ones_like(y), create_graph=True)[0]

    @th.compile  # one program: the forward, two gradients by t, the one by the parameters, and the step
    def step(t, zero):
        opt.zero_grad()
        u = net(t)
        residual = derivative(derivative(u, t), t) + u
        start = net(zero)
        loss = (residual ** 2).mean() + (start ** 2).sum() + ((derivative(start, zero) - 1) ** 2).sum()
        loss.backward(inputs=net.parameters())
        opt.step()
        return loss

    for number in range(options.steps):
        loss = step(t, zero)
        if number % 500 == 499:
            print(f"step {number + 1}: loss {loss.item():.6f}")
    with th.no_grad():
        error = (net(t) - t.sin()).abs().max().item()
    print(f"farthest from the sine: {error:.4f}")
    assert error < 0.1, error


if __name__ == "__main__":
    main()
