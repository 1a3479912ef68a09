#!/usr/bin/env python3
"""What PyTorch reaches on the same products and convolutions: eager, called from Python, one thread."""
import sys

import torch
from torch.nn import grad
from torch.nn import functional
from timing import median_ns, report


def time(name, flops, body):
    """The median over repeats of GFLOP/s."""
    calls = int(min(max(2e7 / flops * 40, 1), 20000))
    note = f"torch {torch.__version__}, eager, from Python, set_num_threads(1)"
    report("matmul: " + name, "GFLOP/s", flops / median_ns(body, 7, calls), peer="torch", note=note)


def main():
    torch.set_num_threads(1)
    with torch.inference_mode():
        for n in (16, 64, 256, 1024):
            a, b, out = torch.rand(n, n), torch.rand(n, n), torch.empty(n, n)
            time(f"{n} cubed f32", 2 * n**3, lambda: torch.matmul(a, b, out=out))
        for m, k, n in ((256, 768, 2304), (256, 768, 3072), (256, 3072, 768), (256, 768, 50257), (1, 768, 3072), (1, 768, 50257)):
            x, w = torch.rand(m, k), torch.rand(n, k)
            time(f"linear {m}x{k}x{n} f32", 2 * m * n * k, lambda: functional.linear(x, w))
        x, w = torch.rand(8, 64, 28, 28), torch.rand(64, 64, 3, 3)
        flops = 2 * 8 * 64 * 28 * 28 * 64 * 9
        name = "conv2d 8x64x28x28, 64 3x3 f32"
        time(name, flops, lambda: functional.conv2d(x, w, padding=1))
        time(name + ", input's gradient", flops, lambda: grad.conv2d_input(x.shape, w, x, padding=1))
        time(name + ", weight's gradient", flops, lambda: grad.conv2d_weight(x, w.shape, x, padding=1))


if __name__ == "__main__":
    sys.exit(main())
