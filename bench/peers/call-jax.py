#!/usr/bin/env python3
"""What a call costs in jax, jitted, called from Python: a + b on 16 floats, and a chain of small lines. The chain is waited for in
each call, as others wait."""
import jax
import jax.numpy as jnp
from agree import agree
from timing import median_ns, report
from workloads import chain

MORE = {"peer": "jax", "note": f"jax {jax.__version__}, jit, from Python"}


def main():
    a, b = jnp.arange(16, dtype=jnp.float32), jnp.ones(16)
    add = jax.jit(lambda x, y: x + y)
    jax.block_until_ready(add(a, b))
    report("call: add 16 f32", "ns", median_ns(lambda: add(a, b)), **MORE)

    x, run = jnp.array(chain.given(), dtype=jnp.float32), jax.jit(lambda x: chain.run(x, jnp.sin, jnp.cos))
    agree(chain.NAME, run(x), jnp.array(chain.expected()))
    report(chain.NAME, "ns", median_ns(lambda: run(x).block_until_ready(), calls=chain.CALLS), **MORE)


if __name__ == "__main__":
    main()
