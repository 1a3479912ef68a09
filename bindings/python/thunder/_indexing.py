"""x[key] and x[key] = value, as numpy has them: integers, slices, ..., None, and tensors or lists of indices."""
import operator

import numpy

from . import _create, _ops, _thunder
from ._sizes import SymInt
from ._thunder import Tensor

_op = _ops.functions
_MOST = 2**63 - 1


def _is_mask(part):
    return isinstance(part, Tensor) and part.dtype is _thunder.bool


def _rank_of(part):
    """How many dims a part of a key takes: a mask as many as it has."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if _is_mask(part) else 1


def _parts(x, key):
    """The key as a list without an ellipsis."""
    parts = [_as_tensor(part) for part in (key if isinstance(key, tuple) else (key,))]
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can hold only one ellipsis ('...')")
    taken = sum(_rank_of(part) for part in parts)
    if taken > x.ndim:
        raise IndexError(f"too many indices: a tensor of rank {x.ndim} was indexed with {taken}")
    if dots:
        parts[dots[0]:dots[0] + 1] = [slice(None)] * (x.ndim - taken)
    return parts


def _as_tensor(part):
    """Lists and arrays of integers or booleans as tensors; the rest of a key as it is."""
    if part is None or part is Ellipsis or isinstance(part, (int, slice, Tensor, numpy.integer, SymInt)):
        return part
    array = numpy.asarray(part)
    if array.dtype != bool and not numpy.issubdtype(array.dtype, numpy.integer):
        raise TypeError(f"an index must be integers, slices, '...', None or a tensor, not {type(part).__name__}")
    return _thunder.share(array if array.dtype == bool else array.astype(numpy.int64))


def _select(view, dim, index):
    if isinstance(index, SymInt):
        return _op["select"](view, dim, index)
    size = view.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range: dim {dim} has {size} elements")
    return _op["select"](view, dim, index)


def _bound(at):
    """An end of a slice as the op takes it, which clamps it to the size."""
    if at is None or isinstance(at, SymInt):
        return at
    return min(max(operator.index(at), -_MOST - 1), _MOST)


def _slice(view, dim, part):
    if part == slice(None):
        return view
    if part.step is not None and part.step <= 0:
        raise ValueError("the step of a slice must be positive")
    return _op["slice"](view, dim, _bound(part.start), _bound(part.stop), 1 if part.step is None else _bound(part.step))


def _basic(x, key):
    """The view that the integers, slices and Nones of a key make, and what is left: [(dims, indices)], a mask taking
    several dims."""
    view, dim, rest = x, 0, []
    for part in _parts(x, key):
        if part is None:
            view, dim = _op["unsqueeze"](view, dim), dim + 1
        elif isinstance(part, slice):
            view, dim = _slice(view, dim, part), dim + 1
        elif isinstance(part, SymInt):
            view = _select(view, dim, part)
        elif isinstance(part, (int, numpy.integer)) and not isinstance(part, bool):
            view = _select(view, dim, int(part))
        else:
            rest.append((range(dim, dim + _rank_of(part)), part))
            dim += _rank_of(part)
    return view, rest


def _in_front(view, rest):
    """The view with the indexed dims first, and the order that made it."""
    dims = [dim for taken, _ in rest for dim in taken]
    order = dims + [dim for dim in range(view.ndim) if dim not in dims]
    return (view if order == list(range(view.ndim)) else _op["permute"](view, order)), dims


def _stays(dims):
    """Whether the dims of what is found stay where the indexed ones were: those of neighbours do, as in numpy; others come
    to the front."""
    return dims and dims[0] > 0 and dims == list(range(dims[0], dims[0] + len(dims)))


def _to_front(value, dims, rest, rank):
    """Values to store, of the shape that getitem gives or one that broadcasts to it, with the indices' dims first."""
    if not _stays(dims) or value.ndim == 0:
        return value
    made, first = max(1 if _is_mask(indices) else indices.ndim for _, indices in rest), dims[0]
    full = rank - len(dims) + made
    value = _op["reshape"](value, [1] * (full - value.ndim) + list(value.shape)) if value.ndim < full else value
    return _op["permute"](value, list(range(first, first + made)) + list(range(first)) + list(range(first + made, full)))


def getitem(x, key):
    view, rest = _basic(x, key)
    if not rest:
        return _op["view_as"](x, x) if view is x else view
    view, dims = _in_front(view, rest)
    found = _op["index"](view, [indices for _, indices in rest])
    if not _stays(dims):
        return found
    made, first = found.ndim - (view.ndim - len(dims)), dims[0]
    order = list(range(made, made + first)) + list(range(made)) + list(range(made + first, found.ndim))
    return _op["permute"](found, order)


def setitem(x, key, value):
    number = isinstance(value, (bool, int, float, SymInt, numpy.generic))
    if _is_mask(key) and key.ndim == x.ndim and number:
        _op["masked_fill_"](x, key, value)  # also where the mask is traced
        return
    view, rest = _basic(x, key)
    if rest:
        view, dims = _in_front(view, rest)
        if number:
            _op["index_put_"](view, [indices for _, indices in rest], value)
            return
        if not isinstance(value, Tensor):
            value = _create.asarray(value) if _create.is_array(value) else _create.tensor(value, view.dtype)
            value = _op["to"](value, None, view.device)
        value = _to_front(_op["to"](value, view.dtype), dims, rest, view.ndim)
        _op["index_put_"](view, [indices for _, indices in rest], value)
    elif number:
        _op["fill_"](view, value)
    else:
        _op["copy_"](view, value)
