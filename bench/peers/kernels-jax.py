#!/usr/bin/env python3
"""The kernels of bench/groups/kernels.py in jax, jitted."""
import jax
import jax.numpy as jnp
import torch
from agree import agree
from jax import nn
from timing import median_ms, report
from torch.nn import functional
from workloads import kernels

SECONDS = 0.25
MORE = {"peer": "jax", "note": f"jax {jax.__version__}, jit, {len(jax.devices())} CPU device"}
EPSILON = {"norm": 1e-5, "rms": float(jnp.finfo(jnp.float32).eps)}  # PyTorch's defaults


def normalized(x, axis):
    return (x - x.mean(axis, keepdims=True)) * jax.lax.rsqrt(x.var(axis, keepdims=True) + EPSILON["norm"])


def rotary(x, cos, sin):
    low, high = jnp.split(x, [(x.shape[-1] + 1) // 2], -1)
    return x * cos + jnp.concatenate([-high, low], -1) * sin


def cross_entropy(x, targets):
    return -jnp.take_along_axis(nn.log_softmax(x), targets[:, None], 1).mean()


RUN = {
    "layer_norm": lambda x, w, b: normalized(x, -1) * w + b,
    "rms_norm": lambda x, w: x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + EPSILON["rms"]) * w,
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
    "gelu": lambda x: nn.gelu(x, approximate=False),
    "gelu tanh": lambda x: nn.gelu(x, approximate=True),
    "swiglu": lambda x, y: nn.silu(x) * y,
    "batch_norm": lambda x, w, b: normalized(x, 0) * w + b,
    "rotary": rotary,
    "cumsum": lambda x: jnp.cumsum(x, -1),
    "transpose-add": lambda x, y: x + y.T,
}


def of_torch(x):
    return jnp.asarray(x.detach().numpy())


def pullback(f):
    return jax.jit(lambda cotangent, *inputs: jax.vjp(f, *inputs)[1](cotangent))


def time(label, seconds, f, *operands):
    report(label, "us", 1e3 * median_ms(lambda: jax.block_until_ready(f(*operands)), seconds), **MORE)


def compare(kernel, size, forward, both):
    """With PyTorch's results and gradients."""
    inputs = [torch.randn(shape, requires_grad=True) for shape in kernels.shapes(kernel, *size)]
    cotangent, y = torch.randn(size), kernel.run(functional, *inputs)
    wanted, given = torch.autograd.grad(y, inputs, cotangent), [of_torch(x) for x in inputs]
    agree(kernel.name, forward(*given), of_torch(y))
    agree(kernel.name + " f+b", both(of_torch(cotangent), *given), [of_torch(x) for x in wanted])


def time_kernels():
    for kernel in kernels.KERNELS:
        forward, both = jax.jit(RUN[kernel.name]), pullback(RUN[kernel.name])
        compare(kernel, kernels.SIZES[0], forward, both)
        for size in kernels.SIZES:
            inputs = [of_torch(torch.randn(shape)) for shape in kernels.shapes(kernel, *size)]
            time(kernels.label(kernel, *size, False), SECONDS, forward, *inputs)
            time(kernels.label(kernel, *size, True), SECONDS, both, of_torch(torch.randn(size)), *inputs)


def time_loss():
    rows, classes = kernels.LOSS_SIZE
    logits, targets = torch.randn(rows, classes), torch.randint(0, classes, [rows])
    x, y = of_torch(logits), jnp.asarray(targets.numpy())
    forward, both = jax.jit(cross_entropy), jax.jit(jax.grad(cross_entropy))
    agree("cross_entropy", forward(x, y), of_torch(functional.cross_entropy(logits, targets)))
    time(f"kernels: cross_entropy {rows}x{classes}", 1, forward, x, y)
    time(f"kernels: cross_entropy f+b {rows}x{classes}", 1, both, x, y)


if __name__ == "__main__":
    torch.manual_seed(0)
    time_kernels()
    time_loss()
