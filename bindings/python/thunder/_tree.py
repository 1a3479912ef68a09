"""Trees of tensors: lists, tuples and dicts, named tuples, dataclasses and modules."""
import dataclasses
import itertools
import weakref

from . import _thunder

_classes = {}  # tag -> class
_tags = {}     # class -> tag
_modules = weakref.WeakValueDictionary()  # number -> module
_numbers = itertools.count(1)

MODULE = "thunder.nn.Module"


def _tag(cls):
    if cls not in _tags:
        tag = name = f"{cls.__module__}.{cls.__qualname__}".translate(str.maketrans("[]{}*,:\"", "________"))
        for number in itertools.count(2):
            if tag not in _classes:
                break
            tag = f"{name}#{number}"
        _tags[cls], _classes[tag] = tag, cls
    return _tags[cls]


def _fields(value):
    """The children of a named tuple or a dataclass by name; None of anything else."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
    return None


def take_apart(value):
    """(tag, {name: child}) of a value that is no leaf, list, tuple or dict. A module is one leaf: which one it is."""
    if isinstance(value, _thunder.ModuleBase):
        number = value.__dict__.setdefault("_number", next(_numbers))
        _modules[number] = value
        return MODULE, {"number": number}
    children = _fields(value)
    if children is None:
        raise TypeError(f"{type(value).__name__} cannot be an argument or a result of a function of tensors: it takes "
                        "tensors, arrays, numbers, strings, None, modules, and lists, tuples, dicts, named tuples and "
                        "dataclasses of them; anything else is captured by a closure")
    return _tag(type(value)), children


def put_together(tag, children):
    if tag == MODULE:
        return _modules[children["number"]]
    return _classes[tag](**children)


_thunder.set_tree_functions(take_apart, put_together)


def tree_map(function, tree):
    """The tree with function(leaf) in place of each leaf."""
    if isinstance(tree, dict):
        return {key: tree_map(function, child) for key, child in tree.items()}
    children = _fields(tree)
    if children is not None:
        return type(tree)(**{name: tree_map(function, child) for name, child in children.items()})
    if isinstance(tree, (list, tuple)):
        return type(tree)(tree_map(function, child) for child in tree)
    return function(tree)


def tree_leaves(tree):
    """The leaves in order."""
    leaves = []
    tree_map(leaves.append, tree)
    return leaves
