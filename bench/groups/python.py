#!/usr/bin/env python3
"""What a call from Python costs: a + b on 16 floats, compiled and eager, the allocation of the result included. One thread."""
import thunder as th
from timing import median_ns, report


def main():
    a, b = th.arange(16).float(), th.ones(16)
    array = a.numpy()
    add = th.compile(lambda x, y: x + y)
    tree = th.compile(lambda batch: {"sum": batch["x"] + batch["y"]})
    batch = {"x": a, "y": b}
    report("python: compiled, add 16 f32", "ns", median_ns(lambda: add(a, b)))
    report("python: compiled, add 16 f32, dict to dict", "ns", median_ns(lambda: tree(batch)))
    report("python: compiled, add 16 f32, numpy arrays", "ns", median_ns(lambda: add(array, array)))
    report("python: eager, add 16 f32", "ns", median_ns(lambda: a + b))
    report("python: empty loop", "ns", median_ns(lambda: None))


if __name__ == "__main__":
    main()
