#!/usr/bin/env python3
"""What a call from Python costs in PyTorch: a + b on 16 floats, eager and compiled, the allocation of the result included.
One thread, without gradients."""
import json
import statistics
import time

import torch

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


def report(name, body, how):
    note = f"torch {torch.__version__}, {how}, no_grad, set_num_threads(1)"
    print(json.dumps({"peer": "torch", "name": name, "unit": "ns", "value": median_ns(body), "note": note}))


def main():
    torch.set_num_threads(1)
    a, b = torch.arange(16, dtype=torch.float32), torch.ones(16)
    compiled = torch.compile(lambda x, y: x + y)
    tree = torch.compile(lambda batch: {"sum": batch["x"] + batch["y"]})
    batch = {"x": a, "y": b}
    with torch.no_grad():
        compiled(a, b), tree(batch)
        report("python: compiled, add 16 f32", lambda: compiled(a, b), "compile()")
        report("python: compiled, add 16 f32, dict to dict", lambda: tree(batch), "compile()")
        report("python: eager, add 16 f32", lambda: a + b, "eager")


if __name__ == "__main__":
    main()
