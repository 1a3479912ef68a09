#!/usr/bin/env python3
"""A convolutional classifier of drawn shapes: augmented batches, a schedule, a checkpoint after each epoch, and going on from it.

    python3 classifier.py [--device cuda] [--epochs N]
"""
import argparse
import os
import tempfile

import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim
from thunder.utils.data import DataLoader, TensorDataset

SIZE = 12


def shapes(count):
    """Images of filled squares (0), frames (1) and crosses (2), each somewhere else, with noise."""
    images, labels = th.rand(count, 1, SIZE, SIZE) * 0.2, th.randint(0, 3, [count])
    for number, label in enumerate(labels.tolist()):
        top, left = th.randint(0, SIZE - 6, [2]).tolist()
        part = images[number, 0, top:top + 6, left:left + 6]
        if label == 2:
            part[2:4] += 0.8
            part[:, 2:4] += 0.8
        else:
            part += 0.8
            if label == 1:
                part[1:5, 1:5] -= 0.8
    return TensorDataset(images, labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 9, 3))

    def forward(self, x):
        return self.head(self.features(x))


def augmented(images):
    """Turned over, and moved by up to a pixel."""
    if th.rand(1).item() < 0.5:
        images = images.flip(-1)
    down, right = th.randint(-1, 2, [2]).tolist()
    return th.roll(images, (down, right), (-2, -1))


def accuracy(net, loader, device):
    net.eval()
    with th.no_grad():
        right = sum((net(x.to(device)).argmax(1).cpu() == y).sum().item() for x, y in loader)
    net.train()
    return right / len(loader.dataset)


def train(path, device, epochs):
    """Trains from the checkpoint at the path, if there is one, to this many epochs; how many it trained."""
    net = Net().to(device)
    opt = optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20)
    first = 0
    if os.path.exists(path):
        checkpoint = th.load(path)
        net.load_state_dict(checkpoint["model"])
        opt.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        first = checkpoint["epoch"] + 1
    loader, held_out = DataLoader(shapes(256), batch_size=32, shuffle=True), DataLoader(shapes(96), batch_size=32)
    model = th.compile(net)  # on a tape it is a forward and a backward program
    for epoch in range(first, epochs):
        for x, y in loader:
            x, y = augmented(x).to(device), y.to(device)
            opt.zero_grad()
            with th.tape():
                loss = F.cross_entropy(model(x), y)
                loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            opt.step()
        schedule.step()
        th.save({"model": net.state_dict(), "optimizer": opt.state_dict(), "schedule": schedule.state_dict(), "epoch": epoch}, path)
        print(f"epoch {epoch}: loss {loss.item():.3f}, held out {accuracy(net, held_out, device):.2f}")
    return epochs - first, accuracy(net, held_out, device)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    th.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.safetensors")
        train(path, options.device, options.epochs // 2)  # as if it had been stopped there
        trained, right = train(path, options.device, options.epochs)
    assert trained == options.epochs - options.epochs // 2 and right > 0.8, (trained, right)


if __name__ == "__main__":
    main()
