#!/usr/bin/env python3
"""The training step of bench/groups/mlp.py in jax: one jitted function, which takes over the memory of what it updates."""
import functools

import jax
import jax.numpy as jnp
import torch
from agree import agree
from jax import nn
from timing import median_ms, report
from workloads import mlp

RATE, BETAS, EPSILON, DECAY = 1e-3, (0.9, 0.999), 1e-8, 0.01  # AdamW's, in PyTorch


def loss_of(parameters, x, y):
    w0, b0, w1, b1 = parameters
    logits = nn.relu(x @ w0.T + b0) @ w1.T + b1
    return -jnp.take_along_axis(nn.log_softmax(logits), y[:, None], 1).mean()


@functools.partial(jax.jit, donate_argnums=0)
def step(state, x, y):
    parameters, first, second, count = state
    loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
    count = count + 1

    def update(p, g, m, v):
        m, v = BETAS[0] * m + (1 - BETAS[0]) * g, BETAS[1] * v + (1 - BETAS[1]) * g * g
        moved = m / (1 - BETAS[0]**count) / (jnp.sqrt(v / (1 - BETAS[1]**count)) + EPSILON)
        return p * (1 - RATE * DECAY) - RATE * moved, m, v

    updated = [update(*each) for each in zip(parameters, gradients, first, second)]
    return (*([each[i] for each in updated] for i in range(3)), count), loss


def main():
    torch.manual_seed(0)
    net = mlp.model(torch.nn)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE)
    images, labels = torch.randn(mlp.BATCH, mlp.INPUTS), torch.randint(0, mlp.CLASSES, [mlp.BATCH])
    x, y = jnp.asarray(images.numpy()), jnp.asarray(labels.numpy())
    parameters = [jnp.array(p.detach().numpy()) for p in net.parameters()]
    state = (parameters, *([jnp.zeros_like(p) for p in parameters] for _ in range(2)), jnp.float32(0))

    def run():
        nonlocal state
        state, loss = jax.block_until_ready(step(state, x, y))
        return loss

    found, wanted = run(), torch.nn.functional.cross_entropy(net(images), labels)
    wanted.backward()
    optimizer.step()
    # The first step of AdamW divides a gradient by its size: the tiniest ones differ.
    agree(mlp.NAME, [found, *state[0]], [jnp.asarray(t.detach().numpy()) for t in (wanted, *net.parameters())], tolerance=1e-3)
    report(mlp.NAME, "us", 1e3 * median_ms(run, 2), peer="jax", note=f"jax {jax.__version__}, jit")


if __name__ == "__main__":
    main()
