"""The table of ATen ops: a function for each that says it in ours, and what else is to be known of it. The files in aten/ fill it, a family
each; no other file but those that rewrite graphs names an op."""
import dataclasses
import typing

import torch

from .. import _ops, _schema, _sizes, _thunder, func

op = _ops.functions
_rows, _hidden = {}, {}
_NAMESPACES = ("prims.", "transformers.", "_c10d_functional.")  # beside that of ATen


@dataclasses.dataclass(frozen=True)
class Row:
    """An ATen op. Its function takes what the op takes, with tensors, dtypes and devices of ours. None: the library has no such op."""
    function: typing.Callable | None = None
    results: bool = False  # the function is first given torch's fakes of what it gives
    nothing: bool = False  # it says something of what was captured, and its result is not read
    size: bool = False  # a number that the sizes of the inputs give
    always: bool = False  # runs by the library also where PyTorch is asked for
    takes_reals: bool = False  # a number that is computed of sizes is a tensor without dims to it
    draws: bool | str = False  # numbers from a generator; a str: if this argument is not 0
    asserts: bool = False  # it must run though nobody reads its result
    begins: bool = False  # what it gives comes later, and is waited for: ranks do it together, in one order
    writes: bool = False  # its second argument into its first, one of the graph's, when the program ends
    view: str = ""  # of its first argument: a "part" by strides, its "bits" read in another way, or what nobody else has, "new"
    memory: str = ""  # of its first argument, whose fake it is given, it reads "places", or all in their "order"
    ends_gradient: bool = False
    gradient: typing.Callable | None = None  # of its first argument, by (arguments, cotangent, second result): what is drawn anew is other numbers
    in_parts: bool | typing.Callable = False  # where a backward may follow: as torch writes it in other ops, or as this function does


    def call(self, node, args, named):
        """Records a node for these arguments."""
        return self.function(*[node.meta["val"]] * self.results, *[node.args[0].meta["val"] for _ in self.memory[:1]], *args, **named)


_UNKNOWN = Row()


def _key(name):
    return name if name.startswith(_NAMESPACES) else "aten." + name


def row(*names, **facts):
    """A decorator: the function translates the ops of these names, such as "add", or "max.dim" for one overload."""
    def add(function):
        note(*names, function=function, **facts)
        return function
    return add


def note(*names, **facts):
    """Rows of these facts."""
    _rows.update((_key(name), Row(**facts)) for name in names)


def same(text, **facts):
    """Rows of ops whose arguments are those of ours: "exp", or "special_i0e=i0e" where ours has another name."""
    for entry in text.split():
        theirs, _, ours = entry.partition("=")
        row(theirs, **facts)(op[ours or theirs])


def find(target):
    """The row of an overload, or of what a node calls; one without facts where there is none."""
    name = str(target)
    return _rows.get(name) or _rows.get(name.rpartition(".")[0]) or _rows.get(name.partition(".")[0] + ".*") or _UNKNOWN


def has(target):
    """Whether an overload stays whole."""
    return find(target).function is not None


def in_parts():
    """What the library has whole and still gets in parts where a backward may follow, so that the partitioner chooses what is kept for it: of a
    softmax its argument, often half as wide as the result, and a number or two of each row. (ops that torch writes, {op: how we do})"""
    ops = {getattr(torch.ops.aten, key.removeprefix("aten.")): one.in_parts for key, one in _rows.items() if one.in_parts}
    return [op for op, how in ops.items() if how is True], {op.default: how for op, how in ops.items() if how is not True}


def stores(graph):
    """The nodes of a graph that write arguments."""
    return [node for node in graph.nodes if node.op == "call_function" and find(node.target).writes]


def draws_numbers(node):
    """Whether a node draws: attention does where it drops."""
    said = find(node.target).draws
    if not isinstance(said, str):
        return said
    at = [one.name for one in node.target._schema.arguments].index(said)
    return bool(node.kwargs.get(said, node.args[at] if len(node.args) > at else 0))


def hidden(name):
    """An op that users do not call: a prim, or a part of a gradient."""
    if name not in _hidden:
        described = {one["name"]: one for one in _schema.describe("ops")}
        _hidden[name] = _ops._make(described[name], name)[0]
    return _hidden[name]


def sized(value, sizes):
    """A tensor whose sizes, which are these, may be written as other formulas."""
    return value if all(map(_sizes.same_formula, value.shape, sizes)) else op["reshape"](value, list(sizes))


def vjp(function, primals, cotangent):
    """The gradients of each primal; what of the forward they do not read vanishes."""
    result, backward = func.vjp(function, *primals)
    return backward(sized(cotangent, result.shape))


# ---- what torch's graph says of a value ----

def dtype_of(dtype):
    """Ours for torch's."""
    return _thunder.dtype(str(dtype).removeprefix("torch."))


def device_of(device):
    """Ours for torch's: its index is one of CUDA's."""
    return _thunder.device(device.type if device.type == "cpu" else f"{device.type}:{device.index or 0}")


def type_of(like, at=None):
    """(dtype, device) of torch's fake of a result, or of one of several."""
    value = like if at is None else like[at]
    return dtype_of(value.dtype), device_of(value.device)


def is_number(value):
    return isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat))
