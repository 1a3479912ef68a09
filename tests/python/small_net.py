"""A module of two layers, and a place for a file, for tests."""
import os
import tempfile

import thunder as th
from thunder import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc1 = nn.Linear(3, width)
        self.fc2 = nn.Linear(width, 2)
        self.scale = nn.Parameter(th.ones(2))
        self.register_buffer("calls", th.zeros(1))
        self.activation = th.relu

    def forward(self, x, *, shift=None):
        y = self.fc2(self.activation(self.fc1(x))) * self.scale
        return y if shift is None else y + shift


def in_temporary(name):
    return os.path.join(tempfile.mkdtemp(), name)
