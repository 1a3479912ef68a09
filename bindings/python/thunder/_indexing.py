"""x[key] and x[key] = value, as numpy has them: integers, slices, ..., None, and tensors or lists of indices."""
import numpy

from . import _ops, _thunder
from ._thunder import Tensor

_op = _ops.functions


def _parts(x, key):
    """The key as a list without an ellipsis."""
    parts = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can hold only one ellipsis ('...')")
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if taken > x.ndim:
        raise IndexError(f"too many indices: a tensor of rank {x.ndim} was indexed with {taken}")
    if dots:
        parts[dots[0]:dots[0] + 1] = [slice(None)] * (x.ndim - taken)
    return parts


def _as_indices(part):
    """A tensor of int64 for what picks several elements."""
    if not isinstance(part, Tensor):
        array = numpy.asarray(part)
        if array.dtype != bool and not numpy.issubdtype(array.dtype, numpy.integer):
            raise TypeError(f"an index must be integers, slices, '...', None or a tensor, not {type(part).__name__}")
        part = _thunder.share(array if array.dtype == bool else array.astype(numpy.int64))
    if part.dtype is not _thunder.bool:
        return part
    if part.ndim != 1 or not part.is_concrete:
        raise IndexError("a mask as an index must be of rank 1 and not traced: use thunder.where() or masked_fill()")
    return _thunder.share(numpy.flatnonzero(numpy.asarray(part)).astype(numpy.int64))


def _select(view, dim, index):
    size = view.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range: dim {dim} has {size} elements")
    return _op["select"](view, dim, index)


def _slice(view, dim, part):
    if part == slice(None):
        return view
    if part.step is not None and part.step <= 0:
        raise ValueError("the step of a slice must be positive")
    start, stop, step = part.indices(view.shape[dim])
    return _op["slice"](view, dim, start, max(start, stop), step)


def _basic(x, key):
    """The view that the integers, slices and Nones of a key make, and what is left: [(dim, indices)]."""
    view, dim, rest = x, 0, []
    for part in _parts(x, key):
        if part is None:
            view, dim = _op["unsqueeze"](view, dim), dim + 1
        elif isinstance(part, slice):
            view, dim = _slice(view, dim, part), dim + 1
        elif isinstance(part, (int, numpy.integer)) and not isinstance(part, bool):
            view = _select(view, dim, int(part))
        else:
            rest.append((dim, _as_indices(part)))
            dim += 1
    return view, rest


def _in_front(view, rest):
    """The view with the indexed dims first, and the order that made it."""
    dims = [dim for dim, _ in rest]
    order = dims + [dim for dim in range(view.ndim) if dim not in dims]
    return (view if order == list(range(view.ndim)) else _op["permute"](view, order)), dims


def getitem(x, key):
    view, rest = _basic(x, key)
    if not rest:
        return view
    view, dims = _in_front(view, rest)
    found = _op["index"](view, [indices for _, indices in rest])
    # Neighbouring indexed dims leave theirs where they were, as in numpy; others leave them in front.
    made = found.ndim - (view.ndim - len(dims))
    first = dims[0]
    if first == 0 or dims != list(range(first, first + len(dims))):
        return found
    order = list(range(made, made + first)) + list(range(made)) + list(range(made + first, found.ndim))
    return _op["permute"](found, order)


def setitem(x, key, value):
    view, rest = _basic(x, key)
    if rest:
        view, _ = _in_front(view, rest)
        if not isinstance(value, Tensor):
            value = _thunder.share(numpy.asarray(value, numpy.asarray(view).dtype if view.is_concrete else None))
        _op["index_put_"](view, [indices for _, indices in rest], _op["to"](value, view.dtype))
    elif isinstance(value, (bool, int, float)):
        _op["fill_"](view, value)
    else:
        _op["copy_"](view, value)
