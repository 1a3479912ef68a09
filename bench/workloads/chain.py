"""Sixty-four small lines that depend on each other: sin and cos by turns, of 16 numbers."""
import math

NAME, LINKS, SIZE = "call: 64-op chain", 64, 16
CALLS = 2000  # a repeat of the timing


def run(x, sin, cos):
    for link in range(LINKS):
        x = cos(x) if link % 2 else sin(x)
    return x


def given():
    """As bench/groups/support.h fills a tensor."""
    return [0.01 * (i % 7) for i in range(SIZE)]


def expected():
    return [run(x, math.sin, math.cos) for x in given()]
