#!/usr/bin/env python3
"""The training step of bench/groups/resnet18.py in PyTorch, eager."""
import torch
from torch import nn
from torch.nn import functional
from timing import median_ms, report
from workloads import resnet18


def main(compiled):
    torch.manual_seed(0)
    net = resnet18.model(nn, functional)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    x = torch.randn(resnet18.BATCH, 3, resnet18.SIZE, resnet18.SIZE)
    y = torch.randint(0, resnet18.CLASSES, [resnet18.BATCH])

    def loss_of(x, y):
        return functional.cross_entropy(net(x), y)

    prepared = torch.compile(loss_of) if compiled else loss_of

    def step():
        optimizer.zero_grad(set_to_none=True)
        prepared(x, y).backward()
        optimizer.step()

    report("resnet18: training step, batch 16", "ms", median_ms(step, 10), peer="torch compile" if compiled else "torch",
           note=f"torch {torch.__version__}, {torch.get_num_threads()} threads")


if __name__ == "__main__":
    main(compiled=False)
