#!/usr/bin/env python3
"""An LSTM over sequences of several lengths, packed: says which of two words came last, whatever the padding.

    python3 sequences.py [--device cuda] [--steps N]
"""
import argparse

import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim
from thunder.nn.utils.rnn import pack_padded_sequence, pad_sequence


class Reader(nn.Module):
    def __init__(self, vocabulary=8, width=32):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=1, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * width, 2)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.embedding(ids), lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.head(th.cat([h[0], h[1]], dim=-1))


def batch(count, device):
    """Sequences of words 1 to 7, and which of the words 1 and 2 came last (a sequence ends in one of them, or in others)."""
    sequences, labels = [], []
    for _ in range(count):
        length = th.randint(3, 10, [1]).item()
        words = th.randint(3, 8, [length])
        place = th.randint(0, length, [1]).item()
        label = th.randint(0, 2, [1]).item()
        words[place] = label + 1
        sequences.append(words)
        labels.append(label)
    return pad_sequence(sequences, batch_first=True).to(device), [len(one) for one in sequences], th.tensor(labels).to(device)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    th.manual_seed(0)
    net = Reader().to(options.device)
    opt = optim.Adam(net.parameters(), lr=1e-2)
    for step in range(options.steps):
        ids, lengths, labels = batch(32, options.device)
        opt.zero_grad()
        with th.tape():
            loss = F.cross_entropy(net(ids, lengths), labels)
            loss.backward()
        opt.step()
        if step % 20 == 19:
            print(f"step {step + 1}: loss {loss.item():.3f}")
    net.eval()
    ids, lengths, labels = batch(200, options.device)
    with th.no_grad():
        right = (net(ids, lengths).argmax(1) == labels).float().mean().item()
        longer = F.pad(ids, (0, 3))  # more padding says nothing
        assert th.allclose(net(ids, lengths), net(longer, lengths), atol=1e-5)
    print(f"right: {right:.2f}")
    assert right > 0.9, right


if __name__ == "__main__":
    main()
