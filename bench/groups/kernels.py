#!/usr/bin/env python3
"""Fused kernels, forward and with their gradients, on all threads, beside what binds: a multiplication of numbers of as many bytes,
read and written, as each has to move, over memory of that size, so that what is inside a cache is compared with that cache; or its
arithmetic, as many multiply-adds."""
import sys

import thunder as th
from limits import Machine
from thunder import optim
from timing import report_beside
from workloads import kernels

SECONDS = 0.4


def compiled_of(kernel, backward):
    def f(cotangent, *inputs):
        y = kernel.run(th, *inputs)
        return th.grad_of((y * cotangent).sum(), list(inputs)) if backward else y

    return th.compile(f)


def limit_ms(machine, moved, operations):
    """What binds, just now: instructions of arithmetic take as long as multiply-adds."""
    return max(machine.scale_ms(moved), machine.fma_ms(2 * operations))


def time_kernels(machine, only):
    for kernel in kernels.KERNELS:
        for size in kernels.SIZES:
            for backward in (False, True):
                label = kernels.label(kernel, *size, backward)
                if only and only not in label:
                    continue
                inputs = [th.randn(shape) for shape in kernels.shapes(kernel, *size)]
                cotangent, f = th.randn(size), compiled_of(kernel, backward)
                moved, operations = kernels.moved(kernel, *size, backward), kernels.operations(kernel, *size, backward)
                report_beside(label, "us", lambda: f(cotangent, *inputs), lambda: limit_ms(machine, moved, operations), SECONDS)


def time_loss(machine):
    rows, classes = kernels.LOSS_SIZE
    x, targets = th.randn(rows, classes), th.randint(0, classes, [rows])
    forward = th.compile(lambda x: th.cross_entropy(x, targets))
    both = th.compile(lambda x: th.value_and_grad(lambda x: th.cross_entropy(x, targets))(x))
    for name, f, moves, operations in (("", forward, 1, kernels.LOSS_OPERATIONS[0]), (" f+b", both, 2, kernels.LOSS_OPERATIONS[1])):
        report_beside(f"kernels: cross_entropy{name} {rows}x{classes}", "us", lambda: f(x),
                      lambda: limit_ms(machine, moves * 4 * rows * classes, operations * rows * classes), 1)


def time_update(machine):
    parameter, gradient = th.randn(kernels.UPDATED), th.randn(kernels.UPDATED)
    optimizer = optim.AdamW([parameter], lr=1e-3)
    step = th.compile(lambda g: optimizer.step([g]))
    report_beside("kernels: AdamW 30M", "us", lambda: step(gradient), lambda: machine.update_ms(28 * kernels.UPDATED), 1)


def main(only):
    th.seed(0)
    machine = Machine()
    time_kernels(machine, only)
    if not only or only in "cross_entropy":
        time_loss(machine)
    if not only or only == "AdamW":
        time_update(machine)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
