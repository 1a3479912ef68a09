#!/usr/bin/env python3
"""Single ops on two threads, compiled, or eager where the result's shape depends on values. `ops.py sort,cum` times those whose names
hold one of these words."""
import sys

import numpy as np
import thunder as th
from timing import median_ms, report
from workloads import ops


def body_of(row, inputs):
    """What is timed, and gives the results that are compared."""
    def forward(*inputs):
        return row.run(th, *inputs)

    def both(*given):
        *inputs, cotangent = given
        return th.grad_of((forward(*inputs) * cotangent).sum(), inputs[:row.wrt])

    f = both if row.cotangent else forward
    f = f if row.eager else th.compile(f)
    return lambda: f(*inputs)


def main():
    th.seed(0)
    th.set_num_threads(2)
    for row in ops.chosen(sys.argv[1:]):
        body = body_of(row, [th.from_numpy(array) for array in row.arrays()])
        results = body()
        results = [results] if isinstance(results, th.Tensor) else [r for r in results if r is not None]
        report(row.label, "ms", median_ms(body, ops.SECONDS), checksum=ops.checksum([np.asarray(r) for r in results], row.compared))


if __name__ == "__main__":
    main()
