#!/usr/bin/env python3
"""What PyTorch's scaled_dot_product_attention reaches on the same shapes: eager, called from Python, one thread."""
import sys

import torch
from torch.nn import functional
from timing import median_ns, report


def time(name, flops, body):
    """The median over repeats of GFLOP/s."""
    calls = int(min(max(2e7 / flops * 40, 1), 2000))
    note = f"torch {torch.__version__}, eager, from Python, set_num_threads(1)"
    report("attention: " + name, "GFLOP/s", flops / median_ns(body, 7, calls), peer="torch", note=note)


def attend(heads, queries, keys, width, causal, backward):
    q, grad = torch.rand(1, heads, queries, width), torch.rand(1, heads, queries, width)
    k, v = torch.rand(1, heads, keys, width), torch.rand(1, heads, keys, width)
    pairs = queries * (queries + 1) / 2 if causal else queries * keys
    name = f"H{heads} T{queries}" + (f" of {keys}" if keys != queries else "") + f" D{width}" + (" causal" if causal else "") + " f32"
    if not backward:
        with torch.inference_mode():
            time(name, 4 * heads * width * pairs, lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=causal))
        return
    operands = [x.requires_grad_() for x in (q, k, v)]

    def step():
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        torch.autograd.grad(y, operands, grad)

    time(name + ", forward and backward", 14 * heads * width * pairs, step)


def main():
    torch.set_num_threads(1)
    for tokens, causal in ((1024, True), (1024, False), (128, True)):
        for backward in (False, True):
            attend(12, tokens, tokens, 64, causal, backward)
    attend(12, 1, 1024, 64, False, False)


if __name__ == "__main__":
    sys.exit(main())
