"""Trees of tensors: lists, tuples and dicts, named tuples, dataclasses and modules."""
import dataclasses
import enum
import itertools
import weakref

from . import _constants, _thunder

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
    if isinstance(value, enum.Enum):
        return _tag(type(value)), {"member": value.name if value.name in type(value).__members__ else str(value.value)}
    children = _fields(value)
    if children is not None:
        return _tag(type(value)), children
    if any(_holds_traced(member) for member in getattr(value, "__dict__", {}).values()):
        raise TypeError(f"{type(value).__name__} cannot be a result of a compiled function, nor given to another one inside of it, since it "
                        "holds tensors that are traced: a list, tuple, dict, named tuple or dataclass of them can")
    return _constants.parts(value)


def _holds_traced(value, depth=0):
    """Whether it is, or is a container of, a tensor without data."""
    if isinstance(value, _thunder.Tensor):
        return not value.is_concrete
    children = value if isinstance(value, (list, tuple, set)) else value.values() if isinstance(value, dict) else ()
    return depth < 3 and any(_holds_traced(child, depth + 1) for child in children)


WRITES = "writes"  # what a compiled function writes at each call


class Made:
    """What a call is to write: the number of its list of writes, and the values."""

    def __init__(self, number, *values):
        self.number, self.values = number, values


def put_together(tag, children):
    if tag == WRITES:
        return Made(*children)
    if _constants.is_tag(tag):
        return _constants.value_of(tag, children)
    if tag == MODULE and children["number"] in _modules:
        return _modules[children["number"]]
    if tag not in _classes:  # from a program that another process saved
        what = "a module" if tag == MODULE else f"a {tag}"
        raise TypeError(f"this is {what} of the program that saved it; here no such value has been an argument or a result yet")
    made = _classes[tag]
    if issubclass(made, enum.Enum):
        return made[children["member"]] if children["member"] in made.__members__ else made(int(children["member"]))
    return made(**children)


_thunder.set_tree_functions(take_apart, put_together)


def _children(tree):
    """{key: child} of a node, None of a leaf."""
    if isinstance(tree, dict):
        return tree
    fields = _fields(tree)
    if fields is None and isinstance(tree, (list, tuple)):
        return dict(enumerate(tree))
    return fields


def _shape(tree):
    children = _children(tree)
    if children is None:
        return f"a leaf ({type(tree).__name__})"
    return f"{type(tree).__name__} of {', '.join(map(repr, children)) if isinstance(tree, dict) else len(children)}"


def tree_map(function, tree, *others):
    """The tree with function(leaf, the leaves of the other trees in the same place) in place of each leaf."""
    children = _children(tree)
    if children is None:
        return function(tree, *others)
    below = [_children(other) for other in others]
    for other, its in zip(others, below):
        if its is None or isinstance(other, dict) != isinstance(tree, dict) or its.keys() != children.keys():
            raise ValueError(f"tree_map: the trees differ: {_shape(tree)}, and {_shape(other)}")
    mapped = {key: tree_map(function, child, *(its[key] for its in below)) for key, child in children.items()}
    if isinstance(tree, dict):
        return mapped
    return type(tree)(**mapped) if _fields(tree) is not None else type(tree)(mapped.values())


def tree_leaves(tree):
    """The leaves in order."""
    leaves = []
    tree_map(leaves.append, tree)
    return leaves
