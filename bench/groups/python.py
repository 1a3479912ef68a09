#!/usr/bin/env python3
"""What a call from Python costs: a + b on 16 floats, compiled and eager, the allocation of the result included. One thread."""
import json
import statistics
import time

import thunder as th

REPEATS, CALLS = 15, 20000


def median_ns(body):
    """The median over repeats of the mean nanoseconds of a call of body; the first repeat warms up."""
    samples = []
    calls = range(CALLS)
    for _ in range(REPEATS + 1):
        start = time.perf_counter_ns()
        for _ in calls:
            body()
        samples.append((time.perf_counter_ns() - start) / CALLS)
    return statistics.median(samples[1:])


def report(name, body):
    print(json.dumps({"name": name, "unit": "ns", "value": median_ns(body)}))


def main():
    a, b = th.arange(16).float(), th.ones(16)
    array = a.numpy()
    add = th.compile(lambda x, y: x + y)
    tree = th.compile(lambda batch: {"sum": batch["x"] + batch["y"]})
    batch = {"x": a, "y": b}
    report("python: compiled, add 16 f32", lambda: add(a, b))
    report("python: compiled, add 16 f32, dict to dict", lambda: tree(batch))
    report("python: compiled, add 16 f32, numpy arrays", lambda: add(array, array))
    report("python: eager, add 16 f32", lambda: a + b)
    report("python: empty loop", lambda: None)


if __name__ == "__main__":
    main()
