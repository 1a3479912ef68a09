#!/usr/bin/env python3
"""A training step of ResNet-18: forward, loss, backward and SGD with momentum, on all threads."""
import limits
import thunder as th
from thunder import nn, optim
from timing import median_ms, report
from workloads import resnet18

NAME = "resnet18: training step, batch 16"


def main():
    th.seed(0)
    net = resnet18.model(nn, th)
    parameters = net.parameters()
    optimizer = optim.SGD(parameters, lr=1e-3, momentum=0.9)

    @th.compile
    def step(x, y):
        loss = th.cross_entropy(net(x), y)
        optimizer.step(th.grad_of(loss, parameters))
        return loss

    x = th.randn(resnet18.BATCH, 3, resnet18.SIZE, resnet18.SIZE)
    y = th.randint(0, resnet18.CLASSES, [resnet18.BATCH])
    report(NAME, "ms", median_ms(lambda: step(x, y), 10))
    report(NAME, "ms", resnet18.TRAINING_FLOPS / limits.measure()["fma_gflops"] / 1e6, limit=True)


if __name__ == "__main__":
    main()
