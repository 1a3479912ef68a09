#!/usr/bin/env python3
"""GPT-2 124M, f32, on all threads: a training step (forward, loss, backward, AdamW), the forward, one token with a static cache
of keys and values; and the memory that training takes beyond an idle process."""
import thunder as th
from limits import Machine
from memory import peak_mib
from thunder import nn, optim
from timing import median_ms, report, report_beside
from workloads import gpt2


def main():
    machine = Machine()
    before = peak_mib()
    th.seed(0)
    net = gpt2.model(nn, th)
    parameters = net.parameters()
    optimizer = optim.AdamW(parameters, lr=1e-4)
    tokens = th.randint(0, gpt2.VOCABULARY, [gpt2.BATCH, gpt2.TOKENS])
    targets = th.randint(0, gpt2.VOCABULARY, [gpt2.BATCH * gpt2.TOKENS])
    positions = th.arange(gpt2.TOKENS)

    def train(tokens, targets):
        loss = th.cross_entropy(net(tokens, positions).view(-1, gpt2.VOCABULARY), targets)
        optimizer.step(th.grad_of(loss, parameters))
        return loss

    step = th.compile(train)
    report_beside("gpt2: training step B4 T64", "ms", lambda: step(tokens, targets),
                  lambda: machine.fma_ms(gpt2.TRAINING_FLOPS) + machine.update_ms(gpt2.UPDATE_BYTES), 15)
    report("gpt2: memory of the training step", "MiB", peak_mib() - before)

    for precision in gpt2.PRECISIONS:
        reduced = th.compile(train, float32_matmul_precision=precision)
        report(f"gpt2: training step B4 T64, {precision} precision", "ms", median_ms(lambda: reduced(tokens, targets), 8))

    net.eval()
    forward = th.compile(lambda tokens: net(tokens, positions))
    report_beside("gpt2: forward B4 T64", "ms", lambda: forward(tokens), lambda: machine.fma_ms(gpt2.FORWARD_FLOPS), 5)

    size = [1, gpt2.HEADS, gpt2.CONTEXT, gpt2.WIDTH // gpt2.HEADS]
    caches = [(th.zeros(size), th.zeros(size)) for _ in range(gpt2.LAYERS)]
    places = th.arange(gpt2.CONTEXT)
    one = th.compile(lambda token, position: net.one(token, position, caches, (places <= position).view(1, 1, 1, -1)))
    token, last = th.randint(0, gpt2.VOCABULARY, [1, 1]), th.tensor([gpt2.CONTEXT - 1])
    report_beside("gpt2: one token, 1024 cached", "ms", lambda: one(token, last), lambda: machine.read_ms(gpt2.DECODE_BYTES), 3)


if __name__ == "__main__":
    main()
