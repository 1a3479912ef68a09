#!/usr/bin/env python3
"""What a call costs in PyTorch, called from Python: a + b on 16 floats, eager, and a chain of small lines. One thread.

The numbers are per call, so nearly all of it is dispatch and allocation. The timing loop itself is measured
empty and not subtracted: its row says how small it is.
"""
import torch
import ways
from agree import agree
from timing import median_ns, report
from workloads import chain


def time_chain(way):
    torch.set_num_threads(1)
    x, run = torch.tensor(chain.given()), way.prepare(lambda x: chain.run(x, torch.sin, torch.cos))
    with torch.inference_mode():
        agree(chain.NAME, run(x), torch.tensor(chain.expected()))
        report(chain.NAME, "ns", median_ns(lambda: run(x), calls=chain.CALLS), **way.reported("from Python, inference_mode"))


def main():
    torch.set_num_threads(1)
    more = ways.EAGER.reported("from Python, inference_mode")
    a, b = torch.arange(16, dtype=torch.float32), torch.ones(16)
    out = torch.empty(16)
    with torch.inference_mode():
        report("call: add 16 f32", "ns", median_ns(lambda: a + b), **more)
        report("call: add 16 f32, bound result", "ns", median_ns(lambda: torch.add(a, b, out=out)), **more)
    report("call: empty loop", "ns", median_ns(lambda: None), **more)
    time_chain(ways.EAGER)


if __name__ == "__main__":
    main()
