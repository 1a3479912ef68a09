#!/usr/bin/env python3
"""The training step and the forward of bench/groups/resnet18.py in PyTorch, eager."""
import torch
import ways
from agree import agree
from torch import nn
from torch.nn import functional
from timing import median_ms, report
from workloads import resnet18


def main(way):
    torch.manual_seed(0)
    net = resnet18.model(nn, functional)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    x = torch.randn(resnet18.BATCH, 3, resnet18.SIZE, resnet18.SIZE)
    y = torch.randint(0, resnet18.CLASSES, [resnet18.BATCH])

    def loss_of(x, y):
        return functional.cross_entropy(net(x), y)

    prepared = way.prepare(loss_of)
    agree(resnet18.NAME, prepared(x, y), loss_of(x, y))

    def step():
        optimizer.zero_grad(set_to_none=True)
        prepared(x, y).backward()
        optimizer.step()

    report(resnet18.NAME, "ms", median_ms(step, 10), **way.reported())

    net.eval()
    with torch.inference_mode():
        forward = way.prepare(lambda x: net(x))
        agree(resnet18.FORWARD_NAME, forward(x), net(x))
        report(resnet18.FORWARD_NAME, "ms", median_ms(lambda: forward(x), 5), **way.reported())


if __name__ == "__main__":
    main(ways.EAGER)
