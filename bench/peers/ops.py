#!/usr/bin/env python3
"""The rows of bench/groups/ops.py in PyTorch, eager, on two threads."""
import sys

import torch
import ways
from timing import median_ms, report
from torch.nn import functional
from workloads import ops


class Functions:
    """What workloads/ops.py calls."""
    im2col = staticmethod(functional.unfold)

    def __getattr__(self, name):
        if name.startswith("linalg_"):
            return getattr(torch.linalg, name.removeprefix("linalg_"))
        return getattr(functional, name, None) or getattr(torch, name)


def body_of(row, arrays):
    inputs = [torch.from_numpy(array) for array in arrays]
    if not row.cotangent:
        return lambda: row.run(Functions(), *inputs)
    *inputs, cotangent = inputs
    wanted = [x.requires_grad_() for x in inputs[:row.wrt]]
    return lambda: torch.autograd.grad(row.run(Functions(), *inputs), wanted, cotangent)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(2)
    for row in ops.chosen(sys.argv[1:]):
        body = body_of(row, row.arrays())
        results = body()
        results = [results] if isinstance(results, torch.Tensor) else results
        flat = [r for result in results for r in ([result] if isinstance(result, torch.Tensor) else result)]
        report(row.label, "ms", median_ms(body, ops.SECONDS), checksum=ops.checksum(flat, row.compared), **ways.EAGER.reported())


if __name__ == "__main__":
    main()
