"""The first things that a user of PyTorch types: each gives what it gives there, or is refused with a message that helps.

The list is first_hour.txt. Its values were recorded from PyTorch 1.13; where PyTorch is installed, they are compared with it again.
"""
import ast
import collections
import copy
import importlib.util
import pathlib
import pickle
import re
import unittest

import numpy as np
import thunder
import thunder.nn.functional
import thunder.utils.data


class Foreign:
    """A tensor of yet another library."""

    def __init__(self, data, device=(1, 0), requires_grad=False):
        self.memory, self.device, self.requires_grad = np.asarray(data, np.float32), device, requires_grad

    def __dlpack__(self, stream=None):
        if self.device[0] != 1:
            raise BufferError("there is no memory here")
        return self.memory.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def names_of(th):
    """What the lines speak of, of this library or of PyTorch."""
    class Net(th.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = th.nn.Linear(2, 3)
            self.out = th.nn.Linear(3, 1)

        def forward(self, x):
            return self.out(th.nn.functional.relu(self.fc(x)))

    def assigned(x):
        x[0] = 5
        x[:, 1] = th.tensor([7.0, 8.0])
        x[x > 7] = 0
        return x

    def changed(x):
        x += 1
        x *= 2
        return x
    foreign = Foreign if th is thunder else lambda data: th.tensor(data, dtype=th.float32)
    return {"th": th, "collections": collections, "nn": th.nn, "optim": th.optim, "F": th.nn.functional, "np": np, "copy": copy, "pickle": pickle, "Net": Net,
            "Foreign": foreign, "assigned": assigned, "changed": changed, "DataLoader": th.utils.data.DataLoader,
            "TensorDataset": th.utils.data.TensorDataset, "x": th.tensor([[1.0, 2.0], [3.0, 4.0]])}


def plain(value):
    """Tensors, shapes, dtypes and what holds them, as lists, numbers and words."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value).rpartition(".")[2]


def lines():
    """(what is typed, its value or None, the pattern of a refusal or None) of each entry of the list."""
    text = pathlib.Path(__file__).with_suffix("").with_name("first_hour.txt").read_text(encoding="utf-8")
    for typed, result in re.findall(r"^([^#\s].*)\n    (.*)$", text, re.MULTILINE):
        refused = result.removeprefix("refused: ")
        yield (typed, None, refused) if refused != result else (typed, ast.literal_eval(result), None)


class FirstHour(unittest.TestCase):
    def same(self, library):
        for typed, wanted, refused in lines():
            if refused is None:
                with self.subTest(typed):
                    value = plain(eval(typed, names_of(library)))
                    if isinstance(wanted, float):
                        self.assertAlmostEqual(value, wanted, 5)
                    else:
                        self.assertEqual(value, wanted)

    def test_the_list_is_long(self):
        entries = list(lines())
        self.assertEqual(len({typed for typed, _, _ in entries}), len(entries))
        self.assertGreaterEqual(sum(refused is None for _, _, refused in entries), 150)
        self.assertGreaterEqual(sum(refused is not None for _, _, refused in entries), 50)

    def test_what_exists_gives_what_pytorch_gives(self):
        self.same(thunder)

    def test_what_does_not_is_refused_with_what_to_do(self):
        for typed, _, refused in lines():
            if refused is not None:
                with self.subTest(typed), self.assertRaisesRegex(Exception, "(?s)" + refused):
                    eval(typed, names_of(thunder))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_the_values_are_pytorchs(self):
        self.same(importlib.import_module("torch"))


if __name__ == "__main__":
    unittest.main()
