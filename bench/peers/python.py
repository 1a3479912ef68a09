#!/usr/bin/env python3
"""What a call from Python costs in PyTorch: a + b on 16 floats, eager and compiled, the allocation of the result included.
One thread, without gradients."""
import torch
from timing import median_ns, report


def time(name, body, how):
    note = f"torch {torch.__version__}, {how}, no_grad, set_num_threads(1)"
    report(name, "ns", median_ns(body), peer="torch", note=note)


def main():
    torch.set_num_threads(1)
    a, b = torch.arange(16, dtype=torch.float32), torch.ones(16)
    compiled = torch.compile(lambda x, y: x + y)
    tree = torch.compile(lambda batch: {"sum": batch["x"] + batch["y"]})
    batch = {"x": a, "y": b}
    with torch.no_grad():
        compiled(a, b), tree(batch)
        time("python: compiled, add 16 f32", lambda: compiled(a, b), "compile()")
        time("python: compiled, add 16 f32, dict to dict", lambda: tree(batch), "compile()")
        time("python: eager, add 16 f32", lambda: a + b, "eager")


if __name__ == "__main__":
    main()
