#!/usr/bin/env python3
"""GPT-2 124M in PyTorch, eager: as bench/groups/gpt2.py, with AdamW in its fused form."""
import torch
import ways
from agree import agree
from memory import peak_mib
from torch import nn
from torch.nn import functional
from timing import median_ms, report
from workloads import gpt2


def main(way):
    more = way.reported("AdamW(fused=True)")
    before = peak_mib()
    torch.manual_seed(0)
    with torch.no_grad():
        net = gpt2.model(nn, functional)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    tokens = torch.randint(0, gpt2.VOCABULARY, [gpt2.BATCH, gpt2.TOKENS])
    targets = torch.randint(0, gpt2.VOCABULARY, [gpt2.BATCH * gpt2.TOKENS])
    positions = torch.arange(gpt2.TOKENS)

    def plain():
        return functional.cross_entropy(net(tokens, positions).view(-1, gpt2.VOCABULARY), targets)

    loss_of = way.prepare(plain)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    report("gpt2: training step B4 T64", "ms", median_ms(step, 15), **more)
    report("gpt2: memory of the training step", "MiB", peak_mib() - before, **more)
    agree("gpt2", loss_of(), plain())
    for precision in gpt2.PRECISIONS if way is ways.EAGER else ():
        torch.set_float32_matmul_precision(precision)
        report(f"gpt2: training step B4 T64, {precision} precision", "ms", median_ms(step, 8), **more)
    torch.set_float32_matmul_precision("highest")
    optimizer.zero_grad(set_to_none=True)

    net.eval()
    with torch.inference_mode():
        forward = way.prepare(lambda: net(tokens, positions))
        report("gpt2: forward B4 T64", "ms", median_ms(forward, 5), **more)
        size = [1, gpt2.HEADS, gpt2.CONTEXT, gpt2.WIDTH // gpt2.HEADS]
        caches = [(torch.zeros(size), torch.zeros(size)) for _ in range(gpt2.LAYERS)]
        places = torch.arange(gpt2.CONTEXT)
        token, last = torch.randint(0, gpt2.VOCABULARY, [1, 1]), torch.tensor([gpt2.CONTEXT - 1])
        one = way.prepare(lambda: net.one(token, last, caches, (places <= last).view(1, 1, 1, -1)))
        report("gpt2: one token, 1024 cached", "ms", median_ms(one, 3), **more)


if __name__ == "__main__":
    main(ways.EAGER)
