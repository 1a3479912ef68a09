#!/usr/bin/env python3
"""The training step of bench/groups/mlp.py in PyTorch, eager, with AdamW in its fused form."""
import torch
import ways
from agree import agree
from torch import nn
from torch.nn import functional
from timing import median_ms, report
from workloads import mlp


def main(way):
    torch.manual_seed(0)
    net = mlp.model(nn)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    x, y = torch.randn(mlp.BATCH, mlp.INPUTS), torch.randint(0, mlp.CLASSES, [mlp.BATCH])

    def loss_of(x, y):
        return functional.cross_entropy(net(x), y)

    prepared = way.prepare(loss_of)
    agree(mlp.NAME, prepared(x, y), loss_of(x, y))

    def step():
        optimizer.zero_grad(set_to_none=True)
        prepared(x, y).backward()
        optimizer.step()

    report(mlp.NAME, "us", 1e3 * median_ms(step, 2), **way.reported("AdamW(fused=True)"))


if __name__ == "__main__":
    main(ways.EAGER)
