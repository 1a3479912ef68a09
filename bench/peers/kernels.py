#!/usr/bin/env python3
"""The kernels of bench/groups/kernels.py in PyTorch, eager."""
import torch
import ways
from agree import agree
from torch.nn import functional
from timing import median_ms, report
from workloads import kernels

SECONDS = 0.25


def gradients(y, inputs, cotangent=None):
    return torch.autograd.grad(y, inputs, cotangent)


def time_kernels(sizes, way, more):
    for kernel in kernels.KERNELS:
        for size in sizes:
            def plain(*inputs, kernel=kernel):
                return kernel.run(functional, *inputs)

            run = way.prepare(plain)
            for backward in (False, True):
                label = kernels.label(kernel, *size, backward)
                inputs = [torch.randn(shape, requires_grad=backward) for shape in kernels.shapes(kernel, *size)]
                cotangent = torch.randn(size)

                def call(f):
                    y = f(*inputs)
                    return gradients(y, inputs, cotangent) if backward else [y]

                if size == sizes[0]:
                    agree(label, call(run), call(plain))
                report(label, "us", 1e3 * median_ms(lambda: call(run), SECONDS), **more)


def time_loss(way, more):
    rows, classes = kernels.LOSS_SIZE
    targets = torch.randint(0, classes, [rows])
    loss = way.prepare(lambda x: functional.cross_entropy(x, targets))
    x = torch.randn(rows, classes)
    report(f"kernels: cross_entropy {rows}x{classes}", "us", 1e3 * median_ms(lambda: loss(x), 1), **more)
    x.requires_grad_()
    report(f"kernels: cross_entropy f+b {rows}x{classes}", "us", 1e3 * median_ms(lambda: gradients(loss(x), [x]), 1), **more)


def time_update(more):
    parameter = torch.randn(kernels.UPDATED)
    parameter.grad = torch.randn(kernels.UPDATED)
    optimizer = torch.optim.AdamW([parameter], lr=1e-3, fused=True)
    report("kernels: AdamW 30M", "us", 1e3 * median_ms(optimizer.step, 1), **more)


def main(way):
    torch.manual_seed(0)
    more = way.reported("AdamW(fused=True)")
    time_kernels(kernels.SIZES, way, more)
    time_loss(way, more)
    if way is ways.EAGER:
        time_update(more)


if __name__ == "__main__":
    main(ways.EAGER)
