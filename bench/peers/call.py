#!/usr/bin/env python3
"""What a call costs in PyTorch: a + b on 16 floats, eager, called from Python. One thread.

The numbers are per call, so nearly all of it is dispatch and allocation. The timing loop itself is measured
empty and not subtracted: its row says how small it is.
"""
import json
import statistics
import sys
import time

import torch

REPEATS, CALLS = 15, 20000


def median_ns(body):
    """The median over repeats of the mean nanoseconds of a call of body."""
    samples = []
    calls = range(CALLS)
    for _ in range(REPEATS + 1):
        start = time.perf_counter_ns()
        for _ in calls:
            body()
        samples.append((time.perf_counter_ns() - start) / CALLS)
    return statistics.median(samples[1:])  # the first one warms up


def report(name, value):
    note = f"torch {torch.__version__}, eager, from Python, set_num_threads(1)"
    print(json.dumps({"peer": "torch", "name": name, "unit": "ns", "value": value, "note": note}))


def main():
    torch.set_num_threads(1)
    a, b = torch.arange(16, dtype=torch.float32), torch.ones(16)
    out = torch.empty(16)
    with torch.inference_mode():
        report("call: add 16 f32", median_ns(lambda: a + b))
        report("call: add 16 f32, bound result", median_ns(lambda: torch.add(a, b, out=out)))
    report("call: empty loop", median_ns(lambda: None))


if __name__ == "__main__":
    sys.exit(main())
