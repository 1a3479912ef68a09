#!/usr/bin/env python3
"""A whole training step of an MLP: forward, loss, backward and AdamW, on all threads."""
import thunder as th
from limits import Machine
from thunder import nn, optim
from timing import report_beside
from workloads import mlp


def main():
    th.seed(0)
    net = mlp.model(nn)
    parameters = net.parameters()
    optimizer = optim.AdamW(parameters, lr=1e-3)

    @th.compile
    def step(x, y):
        loss = th.cross_entropy(net(x), y)
        optimizer.step(th.grad_of(loss, parameters))
        return loss

    x, y = th.randn(mlp.BATCH, mlp.INPUTS), th.randint(0, mlp.CLASSES, [mlp.BATCH])
    machine = Machine()
    report_beside(mlp.NAME, "us", lambda: step(x, y),
                  lambda: machine.fma_ms(mlp.TRAINING_FLOPS) + machine.scale_ms(mlp.UPDATE_BYTES), 2)


if __name__ == "__main__":
    main()
