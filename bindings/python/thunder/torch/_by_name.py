"""Our ops by PyTorch's names: what PyTorch computes for a line of a trace of ours. An op has the names of PyTorch's arguments, so most
are found; the prims, which have not, are a table. What would give another type than the line says is not called."""
import functools
import inspect

import torch
from torch.nn import functional as F

from .. import _extend, _schema, _thunder

_PRIMS = "prims."
_ROOTS = ((torch, ""), (F, ""), (torch.special, "special_"), (torch.linalg, "linalg_"))
# Random ops draw from the library's generator; views are values of the plan; PyTorch leaves rows in no group uninitialised; the other
# ops serve the library itself.
_NOT = {"dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "rrelu", "multinomial", "poisson", "binomial", "bernoulli",
        "checkpoint", "detach", "clone", "contiguous", "reshape", "view", "permute", "transpose", "expand", "squeeze", "unsqueeze", "slice",
        "select", "narrow", "unfold", "diagonal", "movedim", "moveaxis", "swapaxes", "swapdims", "flatten", "unflatten", "t", "unbind", "split",
        "chunk", "tensor_split", "grouped_mm"}


def _same(root, names):
    return {_PRIMS + name: getattr(root, name) for name in names.split()}


def _sub(input, other):
    return torch.sub(input, other) if isinstance(input, torch.Tensor) else torch.rsub(other, input)


def _div(input, other):
    return torch.div(input, other) if isinstance(input, torch.Tensor) else torch.reciprocal(other) * input


def _pad(input, low, high, value):
    return F.pad(input, [n for pair in zip(reversed(low), reversed(high)) for n in pair], value=value)


def _forwards(function):
    def of(input, dim, reverse):
        if reverse:
            raise NotImplementedError("PyTorch has no sum from the end")
        return function(input, dim)
    return of


_table = {
    **_same(torch, "add mul fmod pow maximum minimum bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd eq ne lt le gt "
                   "ge atan asin acos log2 log10 erfc erfinv lgamma digamma i0 polygamma atan2 nextafter matmul matrix_exp where gather flip "
                   "scatter_add argmax prod abs neg sign floor logical_not exp log sqrt rsqrt reciprocal sin cos tanh erf cat index_put cummax "
                   "cummin amax amin"),
    **_same(torch.special, "erfcx ndtri log_ndtr i1 i0e i1e zeta"),
    "prims.sub": _sub, "prims.div": _div, "prims.pad": _pad,
    "prims.conv2d": lambda x, weight, *how: torch.conv2d(x, weight, None, *how),
    "prims.conv2d_input_grad": lambda grad, weight, size, *how: torch.nn.grad.conv2d_input(size, weight, grad, *how),
    "prims.conv2d_weight_grad": lambda grad, x, size, *how: torch.nn.grad.conv2d_weight(x, size, grad, *how),
    "prims.convert": lambda x, dtype: x.to(dtype),
    "prims.sum": lambda x, dims: torch.sum(x, dims, dtype=x.dtype),
    "prims.cumsum": _forwards(torch.cumsum), "prims.cumprod": _forwards(torch.cumprod),
    "prims.logcumsumexp": _forwards(torch.logcumsumexp),
    "prims.max_pool2d": torch.max_pool2d_with_indices if hasattr(torch, "max_pool2d_with_indices") else F.max_pool2d_with_indices,
    "prims.index": lambda x, indices: x[tuple(indices)],
    "prims.sort": lambda x, dim, descending: torch.sort(x, dim=dim, descending=descending, stable=True),
    "prims.topk": lambda x, dim, k, largest: torch.topk(x, k, dim, largest),
}

# In a region alone: by themselves they are values of the plan.
_views = {
    "prims.reshape": torch.reshape, "prims.permute": torch.permute, "prims.expand": lambda x, shape: x.expand(shape),
    "prims.slice": lambda x, starts, ends, strides: x[tuple(slice(*one) for one in zip(starts, ends, strides))],
    "prims.contiguous": lambda x: x.contiguous(), "prims.clone": torch.clone,
}


# ---- by name ----

@functools.cache
def _signatures():
    return {function: list(inspect.signature(like).parameters) for function, like in torch.overrides.get_testing_overrides().items()}


def _in_python(name, wanted):
    """A function of PyTorch's with all of these arguments."""
    for root, prefix in _ROOTS:
        found = getattr(root, name.removeprefix(prefix) if name.startswith(prefix) else "", None)
        if found in _signatures() and set(wanted) <= set(_signatures()[found]):
            return found, wanted
    return None


def _in_aten(name, wanted):
    """An overload with all of these arguments, which calls the first of most ops self."""
    packet = getattr(torch.ops.aten, name, None)
    for overload in getattr(packet, "overloads", list)():
        found = getattr(packet, overload)
        theirs = [argument.name for argument in found._schema.arguments]
        own = ["self" if one == "input" and "self" in theirs else one for one in wanted]
        if set(own) <= set(theirs) and not found._schema.is_mutable and "out" not in overload:
            return found, own
    return None


@functools.cache
def _rows():
    """{our op: (its row, PyTorch's function of its arguments in order)}"""
    made = {}
    for row in _schema.describe("ops"):
        name, wanted = row["name"], [parameter["name"] for parameter in row["parameters"]]
        if name in _table or name in _views:
            made[name] = (row, _table.get(name) or _views[name])
        elif not name.startswith((_PRIMS, "init_", "rand", "torch.")) and name not in _NOT:
            found = _in_python(name, wanted) or _in_aten(name, wanted)
            if found:
                function, names = found
                made[name] = (row, lambda *args, f=function, n=names: f(**dict(zip(n, args))))
    return made


def names():
    """Of what runs line by line."""
    return set(_rows()) - set(_views)


# ---- a line ----

def _theirs(value):
    if isinstance(value, _thunder.dtype):
        return getattr(torch, value.name)
    return list(value) if isinstance(value, tuple) else value


def call_of(line):
    """The function of a line's tensors, PyTorch's, that gives a tuple of its results; None: there is none."""
    if line.op not in _rows():
        return None
    row, function = _rows()[line.op]
    kinds = [parameter["kind"] for parameter in row["parameters"]]
    others = [_theirs(line.args.get(parameter["name"])) for parameter in row["parameters"]]
    if "device" in kinds:
        return None

    def call(*inputs):
        made = function(*_extend._arguments(kinds, inputs, others))
        return tuple(made) if isinstance(made, (tuple, list)) else (made,)
    return call if _fits(line, call) else None


def type_of(tensor):
    return getattr(torch, tensor.dtype.name), tuple(tensor.shape)


def _fits(line, call):
    """Whether PyTorch says of the results what the line says."""
    try:
        made = call(*[None if one is None else torch.empty(type_of(one)[1], dtype=type_of(one)[0], device="meta") for one in line.inputs])
    except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError):
        return False
    return [(one.dtype, tuple(one.shape)) for one in made] == [type_of(one) for one in line.outputs]
