#!/usr/bin/env python3
"""What a call from Python costs in jax: a + b on 16 floats, jitted, and outside of jit. Calls that are on their way are waited for
once, at the end of a run."""
import jax
import jax.numpy as jnp
from timing import median_ns, report


def time(name, body, how):
    report(name, "ns", median_ns(body), peer="jax", note=f"jax {jax.__version__}, {how}")


def main():
    a, b = jnp.arange(16, dtype=jnp.float32), jnp.ones(16)
    batch = {"x": a, "y": b}
    compiled, tree = jax.jit(lambda x, y: x + y), jax.jit(lambda batch: {"sum": batch["x"] + batch["y"]})
    jax.block_until_ready((compiled(a, b), tree(batch)))
    time("python: compiled, add 16 f32", lambda: compiled(a, b), "jit")
    time("python: compiled, add 16 f32, dict to dict", lambda: tree(batch), "jit")
    time("python: eager, add 16 f32", lambda: a + b, "outside of jit")


if __name__ == "__main__":
    main()
