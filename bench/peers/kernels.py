#!/usr/bin/env python3
"""The kernels of bench/groups/kernels.py in PyTorch, eager."""
import torch
from torch.nn import functional
from timing import median_ms, report
from workloads import kernels

SECONDS = 0.25


def gradients(y, inputs, cotangent=None):
    return torch.autograd.grad(y, inputs, cotangent)


def time_kernels(sizes, prepare, more):
    for kernel in kernels.KERNELS:
        for size in sizes:
            run = prepare(lambda *inputs, kernel=kernel: kernel.run(functional, *inputs))
            for backward in (False, True):
                inputs = [torch.randn(shape, requires_grad=backward) for shape in kernels.shapes(kernel, *size)]
                cotangent = torch.randn(size)
                f = (lambda: gradients(run(*inputs), inputs, cotangent)) if backward else (lambda: run(*inputs))
                report(kernels.label(kernel, *size, backward), "us", 1e3 * median_ms(f, SECONDS), **more)


def time_loss(prepare, more):
    rows, classes = kernels.LOSS_SIZE
    targets = torch.randint(0, classes, [rows])
    loss = prepare(lambda x: functional.cross_entropy(x, targets))
    x = torch.randn(rows, classes)
    report(f"kernels: cross_entropy {rows}x{classes}", "us", 1e3 * median_ms(lambda: loss(x), 1), **more)
    x.requires_grad_()
    report(f"kernels: cross_entropy f+b {rows}x{classes}", "us", 1e3 * median_ms(lambda: gradients(loss(x), [x]), 1), **more)


def time_update(more):
    parameter = torch.randn(kernels.UPDATED)
    parameter.grad = torch.randn(kernels.UPDATED)
    optimizer = torch.optim.AdamW([parameter], lr=1e-3, fused=True)
    report("kernels: AdamW 30M", "us", 1e3 * median_ms(optimizer.step, 1), **more)


def main(compiled):
    torch.manual_seed(0)
    more = {"peer": "torch compile" if compiled else "torch", "note": f"torch {torch.__version__}, {torch.get_num_threads()} threads, AdamW(fused=True)"}
    prepare = (lambda f: torch.compile(f, dynamic=False)) if compiled else (lambda f: f)
    time_kernels(kernels.SIZES, prepare, more)
    time_loss(prepare, more)
    if not compiled:
        time_update(more)


if __name__ == "__main__":
    main(compiled=False)
