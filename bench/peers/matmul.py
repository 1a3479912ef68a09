#!/usr/bin/env python3
"""What PyTorch reaches on the same products and convolutions: eager, called from Python, one thread."""
import torch
import ways
from agree import agree
from torch.nn import grad
from torch.nn import functional
from timing import median_ns, report
from workloads import matmul


def time(way, name, flops, body):
    """The median over repeats of GFLOP/s."""
    report(name, "GFLOP/s", flops / median_ns(body, 7, matmul.calls(flops)), **way.reported("from Python"))


def time_products(way):
    for n in matmul.SQUARES:
        a, b, out = torch.rand(n, n), torch.rand(n, n), torch.empty(n, n)
        time(way, matmul.square(n), 2 * n**3, lambda: torch.matmul(a, b, out=out))
    for m, k, n in matmul.LINEARS:
        x, w = torch.rand(m, k), torch.rand(n, k)
        time(way, matmul.linear(m, k, n), 2 * m * n * k, lambda: functional.linear(x, w))


def time_followed(way):
    for m, k, n in matmul.FOLLOWED:
        name, operands = matmul.linear(m, k, n, True), (torch.rand(m, k), torch.rand(n, k), torch.rand(n))

        def plain(x, w, b):
            return functional.gelu(functional.linear(x, w, b))

        run = way.prepare(plain)
        agree(name, run(*operands), plain(*operands))
        time(way, name, 2 * m * n * k, lambda: run(*operands))


def time_halves(way):
    a, b = torch.rand(1024, 1024).bfloat16(), torch.rand(1024, 1024).bfloat16()
    time(way, matmul.square(1024, "bf16"), 2 * 1024**3, lambda: a @ b)
    for m, k, n in matmul.HALVES:
        x, w = torch.rand(m, k).bfloat16(), torch.rand(n, k).bfloat16()
        time(way, matmul.linear(m, k, n, dtype="bf16"), 2 * m * n * k, lambda: functional.linear(x, w))


def time_convolutions(way):
    x, w = torch.rand(8, 64, 28, 28), torch.rand(64, 64, 3, 3)
    flops = 2 * 8 * 64 * 28 * 28 * 64 * 9
    name = "matmul: conv2d 8x64x28x28, 64 3x3 f32"
    time(way, name, flops, lambda: functional.conv2d(x, w, padding=1))
    time(way, name + ", input's gradient", flops, lambda: grad.conv2d_input(x.shape, w, x, padding=1))
    time(way, name + ", weight's gradient", flops, lambda: grad.conv2d_weight(x, w.shape, x, padding=1))


def main(way):
    torch.set_num_threads(1)
    with torch.inference_mode():
        if way is not ways.EAGER:
            return time_followed(way)
        time_products(way)
        time_followed(way)
        time_halves(way)
        time_convolutions(way)


if __name__ == "__main__":
    main(ways.EAGER)
