#!/usr/bin/env python3
"""What a call costs in jax: a + b on 16 floats, jitted, called from Python."""
import jax
import jax.numpy as jnp
from timing import median_ns, report


def main():
    a, b = jnp.arange(16, dtype=jnp.float32), jnp.ones(16)
    add = jax.jit(lambda x, y: x + y)
    jax.block_until_ready(add(a, b))
    report("call: add 16 f32", "ns", median_ns(lambda: add(a, b)), peer="jax", note=f"jax {jax.__version__}, jit, from Python")


if __name__ == "__main__":
    main()
