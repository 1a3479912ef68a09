#!/usr/bin/env python3
"""A whole training step of an MLP: forward, loss, backward and AdamW, on all threads."""
import limits
import thunder as th
from thunder import nn, optim
from timing import median_ms, report
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
    report(mlp.NAME, "us", 1e3 * median_ms(lambda: step(x, y), 2))
    machine = limits.measure(mlp.UPDATE_BYTES)
    report(mlp.NAME, "us", (mlp.TRAINING_FLOPS / machine["fma_gflops"] + machine["copies"][mlp.UPDATE_BYTES]) / 1e3, limit=True)


if __name__ == "__main__":
    main()
