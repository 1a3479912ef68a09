"""Converts checkpoints of nested dicts, lists and plain values to tensors by name, as a file holds them, and back."""
import json

import numpy

from ._create import is_array
from ._thunder import Tensor, share

NAME = "thunder.structure"  # of the tensor that holds the structure as text


def _is_leaf(value):
    return isinstance(value, Tensor) or is_array(value)


def flat(tree):
    """The tensors by path and, unless it is a plain map of tensors, one more tensor with its structure."""
    if NAME in tree:
        raise ValueError(f"save: {NAME!r} is the name of what says how a file was; take another")
    if all(map(_is_leaf, tree.values())):
        return tree
    tensors = {}
    text = json.dumps(_described(tree, "", tensors))
    return {**tensors, NAME: share(numpy.frombuffer(text.encode(), numpy.uint8).copy())}


def _described(value, path, tensors):
    """The structure as [kind, parts]."""
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
    """The inverse of flat()."""
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
