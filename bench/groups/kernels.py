#!/usr/bin/env python3
"""Fused kernels, forward and with their gradients, on all threads, beside what binds: a copy of as many bytes as each has to move,
over memory of that size, so that what is inside a cache is compared with that cache; or its arithmetic, as many multiply-adds."""
import sys

import limits
import thunder as th
from thunder import optim
from timing import median_ms, report
from workloads import kernels

SECONDS = 0.25


def compiled_of(kernel, backward):
    def f(cotangent, *inputs):
        y = kernel.run(th, *inputs)
        return th.grad_of((y * cotangent).sum(), list(inputs)) if backward else y

    return th.compile(f)


def time_kernels(sizes, only):
    rows = []
    for kernel in kernels.KERNELS:
        for size in sizes:
            for backward in (False, True):
                label = kernels.label(kernel, *size, backward)
                if only and only not in label:
                    continue
                inputs = [th.randn(shape) for shape in kernels.shapes(kernel, *size)]
                cotangent, f = th.randn(size), compiled_of(kernel, backward)
                report(label, "us", 1e3 * median_ms(lambda: f(cotangent, *inputs), SECONDS))
                rows.append((label, kernels.moved(kernel, *size, backward), kernels.operations(kernel, *size, backward)))
    return rows


def time_loss():
    rows, classes = kernels.LOSS_SIZE
    x, targets = th.randn(rows, classes), th.randint(0, classes, [rows])
    forward = th.compile(lambda x: th.cross_entropy(x, targets))
    both = th.compile(lambda x: th.value_and_grad(lambda x: th.cross_entropy(x, targets))(x))
    found = []
    for name, f, moves, operations in (("", forward, 1, kernels.LOSS_OPERATIONS[0]), (" f+b", both, 2, kernels.LOSS_OPERATIONS[1])):
        label = f"kernels: cross_entropy{name} {rows}x{classes}"
        report(label, "us", 1e3 * median_ms(lambda: f(x), 1))
        found.append((label, moves * 4 * rows * classes, operations * rows * classes))
    return found


def time_update(machine):
    parameter, gradient = th.randn(kernels.UPDATED), th.randn(kernels.UPDATED)
    optimizer = optim.AdamW([parameter], lr=1e-3)
    step = th.compile(lambda g: optimizer.step([g]))
    report("kernels: AdamW 30M", "us", 1e3 * median_ms(lambda: step(gradient), 1))
    report("kernels: AdamW 30M", "us", 28 * kernels.UPDATED / machine["update_gbps"] / 1e3, limit=True)


def main(only):
    th.seed(0)
    rows = time_kernels(kernels.SIZES, only)
    if not only or only in "cross_entropy":
        rows += time_loss()
    machine = limits.measure(*sorted({moved for _, moved, _ in rows}))
    for label, moved, operations in rows:
        arithmetic = operations / (machine["fma_gflops"] / 2)
        report(label, "us", max(machine["copies"][moved], arithmetic) / 1e3, limit=True)
    if not only or only == "AdamW":
        time_update(machine)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
