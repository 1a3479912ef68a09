#!/usr/bin/env python3
"""A training step of ResNet-18 (forward, loss, backward and SGD with momentum), and the forward alone, on all threads."""
import limits
import thunder as th
from thunder import nn, optim
from timing import median_ms, report
from workloads import resnet18


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
    report(resnet18.NAME, "ms", median_ms(lambda: step(x, y), 10))

    net.eval()
    forward = th.compile(lambda x: net(x))
    report(resnet18.FORWARD_NAME, "ms", median_ms(lambda: forward(x), 5))

    gflops = limits.measure()["fma_gflops"]
    for name, flops in ((resnet18.NAME, resnet18.TRAINING_FLOPS), (resnet18.FORWARD_NAME, resnet18.FORWARD_FLOPS)):
        report(name, "ms", flops / gflops / 1e6, limit=True)


if __name__ == "__main__":
    main()
