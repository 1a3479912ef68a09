#!/usr/bin/env python3
"""Writes what examples/gpt2 and examples/llama are compared with: weights, logits and a loss curve of the same models in
plain PyTorch, and the tokens that GPT-2's encoding makes of a few lines with a small vocabulary.

    write.py                                 the files of this folder, which the tests read
    write.py gpt2 gpt2 FOLDER                the same for a whole size, for tests/examples/parity.lua
"""
import pathlib
import sys

import torch
from torch.nn import functional

import bpe
import models
import safetensors

HERE = pathlib.Path(__file__).parent
STEPS = 20


def rows(batch, length, vocabulary):
    """A batch for each step, int64[steps, batch, length + 1]: progressions, which can be learnt."""
    starts = torch.randint(0, vocabulary, [STEPS, batch, 1])
    strides = torch.randint(1, 4, [STEPS, batch, 1])
    return (starts + strides * torch.arange(length + 1)) % vocabulary


def loss_of(net, batch):
    logits = net(batch[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def curve(net, batches):
    """The losses of one AdamW step for each batch, with PyTorch's own settings but for the learning rate."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    losses = []
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(net, batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def write(net, batches, folder, name, extra=lambda state: state):
    state = {key: tensor.detach().clone() for key, tensor in net.named_parameters()}
    safetensors.write(folder / f"{name}_weights.safetensors", extra(state))
    with torch.no_grad():
        logits = net(batches[0][:, :-1])
    losses = curve(net, batches)
    safetensors.write(folder / f"{name}_expected.safetensors", {"rows": batches, "logits": logits, "losses": losses})
    print(f"{name}: {sum(tensor.numel() for tensor in state.values())} parameters, loss {losses[0]:.4f} to {losses[-1]:.4f}")


def as_published(state):
    """With the prefix, the masks and the tied head that files of the Hugging Face Hub have."""
    out = {"transformer." + key: tensor for key, tensor in state.items()}
    out["transformer.h.0.attn.bias"] = torch.tril(torch.ones(24, 24)).view(1, 1, 24, 24)
    out["lm_head.weight"] = state["wte.weight"]
    return out


def main(arguments):
    torch.manual_seed(0)
    if arguments:
        name, size, folder = arguments
        net = models.MODELS[name](**models.SIZES[size])
        write(net, rows(1, 64, models.SIZES[size]["vocabulary"]), pathlib.Path(folder), name)
        return
    small = {"layers": 2, "width": 64, "heads": 4, "context": 24, "vocabulary": 64, "deviation": 0.1}
    write(models.Gpt2(**small), rows(2, 24, 64), HERE, "gpt2", as_published)
    write(models.Llama(**small, key_heads=2, inner=96), rows(2, 24, 64), HERE, "llama")
    bpe.write(HERE)


if __name__ == "__main__":
    main(sys.argv[1:])
