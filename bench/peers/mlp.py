#!/usr/bin/env python3
"""The training step of bench/groups/mlp.py in PyTorch, eager, with AdamW in its fused form."""
import torch
from torch import nn
from torch.nn import functional
from timing import median_ms, report
from workloads import mlp


def main(compiled):
    torch.manual_seed(0)
    net = mlp.model(nn)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    x, y = torch.randn(mlp.BATCH, mlp.INPUTS), torch.randint(0, mlp.CLASSES, [mlp.BATCH])

    def loss_of(x, y):
        return functional.cross_entropy(net(x), y)

    prepared = torch.compile(loss_of) if compiled else loss_of

    def step():
        optimizer.zero_grad(set_to_none=True)
        prepared(x, y).backward()
        optimizer.step()

    report("mlp: training step 784-1024-10, batch 64", "us", 1e3 * median_ms(step, 2), peer="torch compile" if compiled else "torch",
           note=f"torch {torch.__version__}, {torch.get_num_threads()} threads, AdamW(fused=True)")


if __name__ == "__main__":
    main(compiled=False)
