"""Checkpoints with dicts, lists and plain values in them, as tensors by name: what one file holds."""
import json

import numpy

from ._create import is_array
from ._thunder import Tensor, share

NAME = "thunder.structure"  # of the tensor of text that says how it was


def _is_leaf(value):
    return isinstance(value, Tensor) or is_array(value)


def flat(tree):
    """Its tensors by path; and where it has more than tensors by name, how it was."""
    if NAME in tree:
        raise ValueError(f"save: {NAME!r} is the name of what says how a file was; take another")
    if all(map(_is_leaf, tree.values())):
        return tree
    tensors = {}
    text = json.dumps(_described(tree, "", tensors))
    return {**tensors, NAME: share(numpy.frombuffer(text.encode(), numpy.uint8).copy())}


def _described(value, path, tensors):
    """[kind, what it is made of]."""
    if _is_leaf(value):
        if path in tensors:
            raise ValueError(f"save: two tensors are at {path!r}: one name has a dot in it; take another")
        tensors[path] = value
        return ["tensor", path]
    below = f"{path}." if path else ""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, (str, int)) or isinstance(key, bool):
                raise TypeError(f"save: a key at {path!r} is {type(key).__name__}; names and integers are kept")
        return ["dict", [[key, _described(child, f"{below}{key}", tensors)] for key, child in value.items()]]
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return [kind, [_described(child, f"{below}{number}", tensors) for number, child in enumerate(value)]]
    if isinstance(value, numpy.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return ["value", value]
    raise TypeError(f"save: {path!r} is {type(value).__name__}: a file holds tensors, and dicts, lists, numbers, strings and None of them")


def as_it_was(tensors):
    """What was given to flat()."""
    structure = tensors.pop(NAME, None)
    return tensors if structure is None else _built(json.loads(bytes(memoryview(structure))), tensors)


def _built(described, tensors):
    kind, what = described
    if kind == "tensor":
        return tensors[what]
    if kind == "dict":
        return {key: _built(child, tensors) for key, child in what}
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(_built(child, tensors) for child in what)
    return what
