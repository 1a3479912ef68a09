#!/usr/bin/env python3
"""What PyTorch's scaled_dot_product_attention reaches on the same shapes: eager, called from Python, one thread."""
import json
import statistics
import sys
import time

import torch
from torch.nn import functional


def report(name, flops, body):
    """The median over repeats of GFLOP/s."""
    calls = int(min(max(2e7 / flops * 40, 1), 2000))
    samples = []
    for _ in range(8):
        start = time.perf_counter_ns()
        for _ in range(calls):
            body()
        samples.append((time.perf_counter_ns() - start) / calls)
    note = f"torch {torch.__version__}, eager, from Python, set_num_threads(1)"
    value = flops / statistics.median(samples[1:])  # the first one warms up
    print(json.dumps({"peer": "torch", "name": "attention: " + name, "unit": "GFLOP/s", "value": value, "note": note}))


def attend(heads, queries, keys, width, causal, backward):
    q, grad = torch.rand(1, heads, queries, width), torch.rand(1, heads, queries, width)
    k, v = torch.rand(1, heads, keys, width), torch.rand(1, heads, keys, width)
    pairs = queries * (queries + 1) / 2 if causal else queries * keys
    name = f"H{heads} T{queries}" + (f" of {keys}" if keys != queries else "") + f" D{width}" + (" causal" if causal else "") + " f32"
    if not backward:
        with torch.inference_mode():
            report(name, 4 * heads * width * pairs, lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=causal))
        return
    operands = [x.requires_grad_() for x in (q, k, v)]

    def step():
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        torch.autograd.grad(y, operands, grad)

    report(name + ", forward and backward", 14 * heads * width * pairs, step)


def main():
    torch.set_num_threads(1)
    for tokens, causal in ((1024, True), (1024, False), (128, True)):
        for backward in (False, True):
            attend(12, tokens, tokens, 64, causal, backward)
    attend(12, 1, 1024, 64, False, False)


if __name__ == "__main__":
    sys.exit(main())
