#!/usr/bin/env python3
"""What jax reaches on the same products, jitted, called from Python. On one processor: that is how its threads are one."""
import os

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before jax counts them

import jax
import jax.numpy as jnp
import numpy as np
from agree import agree
from timing import median_ns, report
from workloads import matmul

NOTE = f"jax {jax.__version__}, jit, from Python, on one processor"


def rand(*shape):
    return jnp.asarray(np.random.default_rng(0).random(shape, dtype=np.float32))


def time(name, flops, f, *operands):
    run = jax.jit(f)
    wanted = f(*(np.asarray(x, dtype=np.float64) for x in operands))
    agree(name, np.asarray(run(*operands)), np.asarray(wanted))
    ns = median_ns(lambda: run(*operands).block_until_ready(), 7, matmul.calls(flops))
    report(name, "GFLOP/s", flops / ns, peer="jax", note=NOTE)


def main():
    for n in matmul.SQUARES:
        time(matmul.square(n), 2 * n**3, lambda a, b: a @ b, rand(n, n), rand(n, n))
    for m, k, n in matmul.LINEARS:
        time(matmul.linear(m, k, n), 2 * m * n * k, lambda x, w: x @ w.T, rand(m, k), rand(n, k))
    for m, k, n in matmul.FOLLOWED:
        time(matmul.linear(m, k, n, True), 2 * m * n * k, lambda x, w, b: jax.nn.gelu(x @ w.T + b, approximate=False), rand(m, k), rand(n, k), rand(n))


if __name__ == "__main__":
    main()
