#!/usr/bin/env python3
"""What a call from Python costs: a + b on 16 floats, compiled and eager, the allocation of the result included. One thread."""
import thunder as th
from thunder import nn
from timing import median_ns, report


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = 1

    def forward(self, x):
        return x * self.factor if self.factor != 1 else x


def main():
    a, b = th.arange(16).float(), th.ones(16)
    array = a.numpy()
    add = th.compile(lambda x, y: x + y)
    tree = th.compile(lambda batch: {"sum": batch["x"] + batch["y"]})
    batch = {"x": a, "y": b}
    report("python: compiled, add 16 f32", "ns", median_ns(lambda: add(a, b)))
    report("python: compiled, add 16 f32, dict to dict", "ns", median_ns(lambda: tree(batch)))
    report("python: compiled, add 16 f32, numpy arrays", "ns", median_ns(lambda: add(array, array)))
    members = nn.Sequential(*(Scale() for _ in range(200)))
    guarded = th.compile(lambda x, y: members(x) + y)
    report("python: compiled, add 16 f32, guarding 200 modules", "ns", median_ns(lambda: guarded(a, b)))
    report("python: eager, add 16 f32", "ns", median_ns(lambda: a + b))
    report("python: empty loop", "ns", median_ns(lambda: None))


if __name__ == "__main__":
    main()
