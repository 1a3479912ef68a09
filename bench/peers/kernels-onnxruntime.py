#!/usr/bin/env python3
"""The kernels of bench/groups/kernels.py in onnxruntime, which has no gradients of them."""
import torch
from onnx_export import time
from torch.nn import functional
from workloads import kernels

SECONDS = 0.25


def main():
    torch.manual_seed(0)
    for kernel in kernels.KERNELS:
        for size in kernels.SIZES:
            inputs = [torch.randn(shape) for shape in kernels.shapes(kernel, *size)]
            time(kernels.label(kernel, *size, False), "us", lambda *x, kernel=kernel: kernel.run(functional, *x), inputs, SECONDS)
    rows, classes = kernels.LOSS_SIZE
    x, targets = torch.randn(rows, classes), torch.randint(0, classes, [rows])
    time(f"kernels: cross_entropy {rows}x{classes}", "us", lambda x: functional.cross_entropy(x, targets), [x], 1)


if __name__ == "__main__":
    main()
