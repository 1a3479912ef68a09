#!/usr/bin/env python3
"""What a call costs in PyTorch: a + b on 16 floats, eager, called from Python. One thread.

The numbers are per call, so nearly all of it is dispatch and allocation. The timing loop itself is measured
empty and not subtracted: its row says how small it is.
"""
import torch
from timing import median_ns, report

MORE = {"peer": "torch", "note": f"torch {torch.__version__}, eager, from Python, set_num_threads(1)"}


def main():
    torch.set_num_threads(1)
    a, b = torch.arange(16, dtype=torch.float32), torch.ones(16)
    out = torch.empty(16)
    with torch.inference_mode():
        report("call: add 16 f32", "ns", median_ns(lambda: a + b), **MORE)
        report("call: add 16 f32, bound result", "ns", median_ns(lambda: torch.add(a, b, out=out)), **MORE)
    report("call: empty loop", "ns", median_ns(lambda: None), **MORE)


if __name__ == "__main__":
    main()
