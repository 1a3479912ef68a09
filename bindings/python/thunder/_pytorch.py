"""What a PyTorch user types of tensors beside the ops, in terms of those; what the registry has under a name stays."""
import functools
import itertools
import math

from . import _create, _names, _ops, _tensor, _thunder
from ._thunder import Tensor

_op = _ops.functions


def _contains(x, value):
    """Whether some element equals the value: 3 in x."""
    return bool(_op["any"](_op["eq"](x, value)))


def _data(x):
    """The same elements, of which no gradient is taken."""
    return _op["detach"](x)


def _set_data(x, value):
    raise AttributeError("a tensor's data is not replaced: copy_() writes into it")


def _cuda(x, device=0):
    """The tensor on a GPU."""
    return x.to(f"cuda:{device}" if isinstance(device, int) else device)


def _new_tensor(x, data, dtype=None, device=None, requires_grad=False):
    """tensor(data) of the tensor's dtype and device."""
    return _create.tensor(data, dtype or x.dtype, device or x.device, requires_grad)


def _uniform_(x, *bounds, **named):
    """uniform_(from=0, to=1): numbers between the two, drawn into the tensor."""
    rest = (("from", 0.0), ("to", 1.0))[len(bounds):]
    low, high = [*bounds, *(named.pop(name, default) for name, default in rest)][:2]
    if named or len(bounds) > 2:
        raise TypeError("uniform_: takes from and to")
    return x.copy_(_op["uniform_like"](x, low, high))


def _normal_(x, mean=0.0, std=1.0):
    """normal_(mean=0, std=1): normal numbers, drawn into the tensor."""
    return x.copy_(_op["randn_like"](x) * std + mean)


def _fill_diagonal_(x, fill_value, wrap=False):
    """Writes a number into the diagonal; with wrap, of a matrix with more rows than columns, again below each block."""
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
        raise ValueError(f"fill_diagonal_: takes a matrix, or a tensor with all dims of one size, got shape {tuple(x.shape)}")
    rows = list(range(x.shape[0] if wrap and x.ndim == 2 else min(x.shape)))
    if wrap and x.ndim == 2:
        rows = [row for row in rows if row % (x.shape[1] + 1) < x.shape[1]]
    if rows:
        first = _create.tensor(rows)
        places = [first] + [_create.tensor([row % (x.shape[1] + 1) for row in rows]) if x.ndim == 2 else first] * (x.ndim - 1)
        x[tuple(places)] = fill_value
    return x


def _keeps_its_shape(name):
    def explain(x, *args, **named):
        raise TypeError(f"{name}_: a tensor keeps its shape: x = x.{name}(...) is a view of the same memory")
    explain.__doc__ = f"An error: a tensor keeps its shape; {name}() gives a view."
    return explain


_members = {
    "__contains__": _contains, "data": property(_data, _set_data), "cuda": _cuda,
    "is_cuda": property(lambda x: x.device.type == "cuda"), "nelement": _tensor._numel, "ndimension": lambda x: x.ndim, "is_complex": lambda x: False,
    "itemsize": property(lambda x: x.dtype.itemsize), "get_device": lambda x: -1 if x.device.type == "cpu" else x.device.index,
    "element_size": lambda x: x.dtype.itemsize,
    "is_floating_point": lambda x: x.dtype.is_floating_point, "new_tensor": _new_tensor, "uniform_": _uniform_, "normal_": _normal_,
    "fill_diagonal_": _fill_diagonal_,
}
for _name in ("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "resize"):
    _members[_name + "_"] = _keeps_its_shape(_name)
for _name, _member in _members.items():
    if not hasattr(Tensor, _name):
        setattr(Tensor, _name, _tensor.covered(_member))


def block_diag(*tensors):
    """The matrices along a diagonal, and zeros around them; vectors count as rows, numbers as matrices of one element."""
    if not tensors:
        return _op["zeros"]([1, 0])
    matrices = [_op["atleast_2d"](tensor if isinstance(tensor, Tensor) else _create.tensor(tensor)) for tensor in tensors]
    wrong = next((matrix for matrix in matrices if matrix.ndim > 2), None)
    if wrong is not None:
        raise ValueError(f"block_diag: takes tensors of at most two dims, got shape {tuple(wrong.shape)}")
    dtype = functools.reduce(_thunder.promote_types, (matrix.dtype for matrix in matrices))
    columns, before, rows = sum(matrix.shape[1] for matrix in matrices), 0, []
    for matrix in matrices:
        after = columns - before - matrix.shape[1]
        rows.append(_op["pad"](_op["to"](matrix, dtype), [before, after]))
        before += matrix.shape[1]
    return _op["cat"](rows)


def cartesian_prod(*tensors):
    """All combinations of the elements of several vectors, a row each; of one vector itself."""
    if len(tensors) == 1:
        return tensors[0]
    grids = _op["meshgrid"](list(tensors), indexing="ij")
    return _op["stack"]([_op["reshape"](grid, [-1]) for grid in grids], 1)


def combinations(input, r=2, with_replacement=False):
    """The combinations of r elements of a vector, a row each, in order."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(choose(range(input.shape[0]), r))
    return _op["index"](input, [_create.tensor(places, _thunder.int64).reshape(len(places), r)])


def is_floating_point(input):
    """Whether the tensor's dtype is one of floats."""
    return input.dtype.is_floating_point


def get_default_dtype():
    """The dtype of floats of Python, which is always this one."""
    return _thunder.float32


constants = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}
