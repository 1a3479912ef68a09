#!/usr/bin/env python3
"""The forward of GPT-2 124M in onnxruntime, which trains nothing."""
import torch
from onnx_export import time
from torch import nn
from torch.nn import functional
from workloads import gpt2


def main():
    torch.manual_seed(0)
    with torch.no_grad():
        net = gpt2.model(nn, functional).eval()
    tokens = torch.randint(0, gpt2.VOCABULARY, [gpt2.BATCH, gpt2.TOKENS])
    time("gpt2: forward B4 T64", "ms", net, [tokens, torch.arange(gpt2.TOKENS)], 5)


if __name__ == "__main__":
    main()
