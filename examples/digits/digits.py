#!/usr/bin/env python3
"""Trains an MLP on handwritten digits by one compiled step: forward, loss, backward, AdamW.

    python3 digits.py [--device cuda] [--traces] [--epochs N] [FILE.csv]

Without arguments: the 1,797 digits in data/, a fifth of which is drawn at random and held out. Ends with an error when
the model is less accurate than it must be.
"""
import argparse
import pathlib
import sys

import thunder as th
from thunder import data, nn, optim

LEAST = 0.97


def read_digits(path):
    """Images as float32 [count, 64] in [0, 1] and labels as int64 [count]: those to learn from, those held out."""
    rows = data.csv(path)
    return data.split([rows[:, :64] / 16, rows[:, 64].long()], 0.2, seed=1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 256)
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x):
        return self.fc2(th.dropout(th.relu(self.fc1(x)), 0.2, self.training))


def train(net, training, epochs, device):
    params = net.parameters()
    opt = optim.AdamW(params, lr=4e-3)

    @th.compile
    def step(images, labels):  # batches are made on the CPU; the move to the device is a line of the program
        loss = th.cross_entropy(net(images.to(device)), labels.to(device))
        opt.step(th.grad_of(loss, params))
        return loss

    batches = data.batches(training, size=32, shuffle=True, drop_last=True, seed=2)
    schedule = optim.CosineAnnealingLR(opt, T_max=epochs * len(batches))
    net.train()
    for epoch in range(epochs):
        for images, labels in batches:
            loss = step(images, labels)
            schedule.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {loss:.4f}")
    return step


def accuracy(net, images, labels, device):
    net.eval()
    predict = th.compile(lambda batch: net(batch.to(device)).argmax(-1).to("cpu"))
    return (predict(images) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=pathlib.Path(__file__).parent / "data/digits.csv")
    parser.add_argument("--device", default="cpu", help="where it computes: cpu, cuda or cuda:N")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--traces", action="store_true", help="print the stages of the compiled step")
    options = parser.parse_args()

    training, (images, labels) = read_digits(options.file)
    print(f"{len(training[0])} images to learn from, {len(images)} held out")
    th.seed(42)
    net = Net().to(options.device)
    step = train(net, training, options.epochs, options.device)
    if options.traces:
        print(*th.last_traces(step), sep="\n")
    reached = accuracy(net, images, labels, options.device)
    print(f"{100 * reached:.2f} % of {len(images)} held-out images right")
    return 0 if reached >= LEAST else f"at least {100 * LEAST:.0f} % was expected"


if __name__ == "__main__":
    sys.exit(main())
