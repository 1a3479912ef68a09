"""Times of what a Python program calls, and the lines that bench/run reads."""
import json
import statistics
import time


def median_ns(body, repeats=15, calls=20000):
    """The median over repeats of the mean nanoseconds of a call of body; the first repeat warms up."""
    samples = []
    turns = range(calls)
    for _ in range(repeats + 1):
        start = time.perf_counter_ns()
        for _ in turns:
            body()
        samples.append((time.perf_counter_ns() - start) / calls)
    return statistics.median(samples[1:])


def median_ms(body, seconds=3.0, least=3):
    """The median milliseconds of one call of body, of as many as fit into `seconds` after two that warm up; at least `least`."""
    body(), body()
    samples, end = [], time.perf_counter() + seconds
    while len(samples) < least or time.perf_counter() < end:
        start = time.perf_counter_ns()
        body()
        samples.append((time.perf_counter_ns() - start) / 1e6)
    return statistics.median(samples)


def report(name, unit, value, **more):
    """One line for bench/run: more may be peer="torch", limit=True, note="..."."""
    print(json.dumps({"name": name, "unit": unit, "value": value, **more}), flush=True)
