#!/usr/bin/env python3
"""What the first step of a function costs torch.compile, forward and backward, with its caches empty and from a second process:
the narrow GPT of bench/groups/gpt.h, of 12 layers, and 30 times linear and relu. What eager PyTorch takes for the same is not
taken off."""
import os
import subprocess
import sys
import tempfile
import time

import torch
import ways
from agree import agree
from torch import nn
from torch.nn import functional
from timing import report

LAYERS, PAIRS, WIDTH, HEADS, TOKENS, VOCABULARY = 12, 30, 32, 4, 8, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc, self.out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.view(1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2) for part in self.qkv(self.ln_1(x)).split(WIDTH, 2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(1, TOKENS, WIDTH))
        return x + self.out(functional.gelu(self.fc(self.ln_2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Parameter(torch.randn(TOKENS, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.head(self.ln(self.blocks(self.wte(tokens) + self.wpe)))
        return functional.cross_entropy(x.view(TOKENS, VOCABULARY), tokens.view(TOKENS))


def step_ms(way, name):
    torch.manual_seed(0)
    if name == "gpt":
        net, x = Gpt(), torch.arange(1, TOKENS + 1).view(1, TOKENS)
        plain = net
    else:
        layers = [layer for _ in range(PAIRS) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
        net, x = nn.Sequential(*layers), torch.randn(TOKENS, WIDTH)
        plain = lambda x: net(x).sum()
    loss_of = way.prepare(plain)
    start = time.perf_counter()
    loss = loss_of(x)
    loss.backward()
    ms = (time.perf_counter() - start) * 1e3
    agree(name, loss, plain(x))
    return ms


def main(way):
    if len(sys.argv) > 1:
        return print(step_ms(way, sys.argv[1]))
    for name, label in (("gpt", f"GPT {LAYERS} layers"), ("mlp", f"{PAIRS} x (linear, relu)")):
        with tempfile.TemporaryDirectory() as folder:
            for state in ("cold", "warm"):
                environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder}
                run = subprocess.run([sys.executable, sys.argv[0], name], env=environment, capture_output=True, text=True, check=True)
                report(f"compile: {label}, {state}", "ms", float(run.stdout.splitlines()[-1]), **way.reported())


if __name__ == "__main__":
    main(ways.COMPILED)
