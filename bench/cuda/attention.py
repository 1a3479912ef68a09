#!/usr/bin/env python3
"""PyTorch's attention on the shapes of attention.cpp: the first call, and medians of 20 by events. Needs PyTorch and a GPU."""
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

SHAPES = [(16, 12, 1024, 64, True), (8, 25, 1024, 64, True), (1, 32, 8192, 128, True), (1, 32, 8192, 128, False), (2, 32, 2048, 64, True)]
BACKENDS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


def median_us(run, runs=20):
    for _ in range(3):
        run()
    times = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000)
    return sorted(times)[runs // 2]


def first_ms(run):
    begin = time.perf_counter()
    result = run()
    torch.cuda.synchronize()
    return result, (time.perf_counter() - begin) * 1000


def main():
    print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    for batch, heads, length, width, causal in SHAPES:
        q, k, v = (torch.randn(batch, length, heads, width, device="cuda", dtype=torch.bfloat16).transpose(1, 2).requires_grad_()
                   for _ in range(3))
        work = 4 * batch * heads * length * length * width / (2 if causal else 1)
        for name, backend in BACKENDS.items():
            with sdpa_kernel(backend):
                def forward():
                    return scaled_dot_product_attention(q, k, v, is_causal=causal)
                out, first = first_ms(forward)
                given = torch.randn_like(out)

                def backward():
                    return torch.autograd.grad(out, (q, k, v), given, retain_graph=True)
                _, second = first_ms(backward)
                f, b = median_us(forward), median_us(backward)
            print(f"{batch}x{heads}x{length}x{width}{' causal' if causal else ''} {name}: first {first:.0f} and {second:.0f} ms; "
                  f"forward {f:.1f} us = {work / f * 1e-6:.0f} TFLOP/s, backward {b:.1f} us = {2.5 * work / b * 1e-6:.0f} TFLOP/s")


if __name__ == "__main__":
    main()
