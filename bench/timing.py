"""Times of what a Python program calls, and the lines that bench/run reads."""
import json
import os
import statistics
import sys
import time

TURN_SECONDS, TURN_CALLS = 0.02, 4  # at least


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


def report_beside(name, unit, body, limit_ms, seconds=3.0, least=3):
    """Reports the median of the time of a call of body and, as its limit, that of what limit_ms() finds, in turn: body for some
    hundredths of a second, or a few times, then limit_ms(), and so on. What others take of the machine they take of both."""
    samples, limits, end = [], [], time.perf_counter() + seconds
    body(), body()
    while len(limits) < least or time.perf_counter() < end:
        limits.append(limit_ms())
        turn, since = [], time.perf_counter()
        while len(turn) < TURN_CALLS or time.perf_counter() < since + TURN_SECONDS:
            start = time.perf_counter_ns()
            body()
            turn.append((time.perf_counter_ns() - start) / 1e6)
        samples += turn[1:]  # the first one finds the caches full of something else
    factor = {"ms": 1, "us": 1e3}[unit]
    report(name, unit, factor * statistics.median(limits), limit=True)
    report(name, unit, factor * statistics.median(samples))


def report(name, unit, value, **more):
    """One line for bench/run: more may be peer="torch", limit=True, note="...". It ends a turn, but for a limit: the others measure
    theirs before this returns."""
    print(json.dumps({"name": name, "unit": unit, "value": value, **more}), flush=True)
    if os.environ.get("THUNDER_BENCH_TURNS") and not more.get("limit"):
        print("turn", flush=True)
        sys.stdin.readline()
