#!/usr/bin/env python3
"""A training step of ResNet-18 (forward, loss, backward and SGD with momentum), and the forward alone, on all threads."""
import thunder as th
from limits import Machine
from thunder import nn, optim
from timing import report_beside
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
    machine = Machine()
    report_beside(resnet18.NAME, "ms", lambda: step(x, y), lambda: machine.fma_ms(resnet18.TRAINING_FLOPS), 10)

    net.eval()
    forward = th.compile(lambda x: net(x))
    report_beside(resnet18.FORWARD_NAME, "ms", lambda: forward(x), lambda: machine.fma_ms(resnet18.FORWARD_FLOPS), 5)


if __name__ == "__main__":
    main()
