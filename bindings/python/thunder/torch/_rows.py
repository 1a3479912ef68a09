"""The table of ATen ops: a function for each that says it in ours. The files in aten/ fill it, a family each."""
import torch

from .. import _ops, _schema, _sizes, _thunder, func

op = _ops.functions
_rows, _hidden = {}, {}
_NAMESPACES = ("prims.", "transformers.")  # beside that of ATen


def row(*names, node=False):
    """A decorator: the function translates the ops of these names, such as "add", or "max.dim" for one overload. It takes what
    they take, with tensors, dtypes and devices of ours; with node=True first the node of torch's graph."""
    def add(function):
        for name in names:
            _rows[name if name.startswith(_NAMESPACES) else "aten." + name] = (function, node)
        return function
    return add


def same(text):
    """Rows of ops whose arguments are those of ours: "exp", or "special_i0e=i0e" where ours has another name."""
    for entry in text.split():
        theirs, _, ours = entry.partition("=")
        row(theirs)(op[ours or theirs])


def find(target):
    """The row of an overload as (function, whether it takes the node); None: there is none."""
    return _rows.get(str(target)) or _rows.get(str(target).rpartition(".")[0])


def has(target):
    """Whether an overload stays whole."""
    return find(target) is not None


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


def meta(node, at=None):
    """torch's fake value of a node, or of one of its results: its type is known, its elements are not."""
    value = node.meta["val"]
    return value if at is None else value[at]


def type_of(node, at=None):
    """(dtype, device) of a node's result."""
    value = meta(node, at)
    return dtype_of(value.dtype), device_of(value.device)


def is_number(value):
    return isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat))
