"""What a Tensor has beside its ops: numpy, formatting, pickling, PyTorch's short names."""
import types

import numpy

from . import _backward, _indexing, _memory_format, _ops, _thunder
from ._create import is_array
from ._forms import return_types
from ._sizes import Size
from ._thunder import Tensor
from ._traceback import covered

_op = _ops.functions
_CPU = _thunder.device("cpu")


def _array(x, dtype=None, copy=None):
    """For numpy, where the buffer protocol has no format (bfloat16) or there is no memory (a traced tensor)."""
    if not _thunder.materialize(x):
        raise TypeError("a traced tensor has no elements: numpy cannot be used on it inside a compiled function")
    if x.device.type != "cpu":
        raise TypeError(f"can't convert {x.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
    if x.dtype is _thunder.bfloat16:
        x, copy = _op["to"](x, _thunder.float32), None
    array = numpy.asarray(memoryview(x))
    array = array if dtype is None else array.astype(dtype, copy=False)
    return array.copy() if copy else array


def _numpy(x, *, force=False):
    """A numpy array over the tensor's memory; with force over a copy of what lies on a device."""
    x = _on_host(x) if force else x
    if x.dtype is _thunder.bfloat16:
        raise TypeError("numpy has no bfloat16: convert with .float()")
    return _array(x)


def _array_function(x, function, types, args, kwargs):
    """numpy's functions take tensors for arrays, and give what they give for those."""
    def plain(tree):
        if isinstance(tree, Tensor):
            return _array(tree)
        return type(tree)(map(plain, tree)) if type(tree) in (list, tuple, Size) else tree
    return function(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()})


def _on_host(x):
    return x if x.device.type == "cpu" else _op["to"](x, None, _CPU)


def _tolist(x):
    """Nested lists of Python's numbers; of rank 0 the number."""
    return _array(_on_host(x)).tolist()


# ---- formatting ----

def _format(x, spec):
    if isinstance(x, float):  # one that a traced function was given: its text is the number's
        return format(x.item(), spec)
    return format(x.item(), spec) if x.ndim == 0 and (spec or _thunder.materialize(x)) else format(repr(x), spec)


# ---- pickling and copying ----

def _rebuild(array, dtype, device=_CPU, is_parameter=False, requires_grad=False):
    made = _thunder.share(array)
    made = made if made.dtype is dtype and device is _CPU else _op["to"](made, dtype, device)
    if is_parameter:
        _thunder.mark_parameter(made)
    return made if requires_grad == _backward.requires_grad(made) else _backward.requires_grad_(made, requires_grad)


def _reduce(x):
    return _rebuild, (numpy.ascontiguousarray(_array(_on_host(x))).reshape(x.shape), x.dtype, x.device, _thunder.is_parameter(x),
                      _backward.requires_grad(x))


def _deepcopy(x, memo):
    memo[id(x)] = copy = _op["clone"](x)
    return _backward.carry(x, copy, memo)


# ---- what Python asks of numbers and sequences ----

def _round(x, ndigits=None):
    if ndigits and isinstance(x, float):  # a live one, whose decimal digits are those of the number alone
        return round(x.item(), ndigits)
    return _op["round"](x, ndigits or 0)


def _reversed(x):
    """Along the first dim, as in PyTorch; of rank 0 the tensor itself."""
    return _op["flip"](x, [0]) if x.ndim else x


# ---- short names ----

def _along(x, dim, keepdim, least):
    return (return_types.min if least else return_types.max)(*_op["min" if least else "max"](x, dim, keepdim))


def extreme(name, pairwise):
    def of(input, dim=None, keepdim=False, *, other=None, axis=None, keepdims=False):
        dim, keepdim = dim if axis is None else axis, keepdim or keepdims
        if isinstance(dim, int) and not isinstance(dim, bool):
            return _along(input, dim, keepdim, name == "amin")
        if dim is not None and other is None:
            if not isinstance(dim, Tensor) and not hasattr(dim, "__array__") and not is_array(dim):
                raise TypeError(f"{name[1:]}(): dim must be an int, or another tensor for the {pairwise} of each pair, got "
                                f"{type(dim).__name__}; of a tensor and a number: {pairwise}(); along several dims: {name}()")
            dim, other = None, dim
        return _op[name](input) if other is None else _op[pairwise](input, other)
    of.__name__ = of.__qualname__ = name[1:]
    of.__doc__ = (f"{of.__name__}(): the {pairwise} of all elements. {of.__name__}(dim, keepdim=False): those along a dim, and where they "
                  f"are, as (values, indices). {of.__name__}(other): of each pair of two tensors.")
    return of


def _dtype_of(name):
    try:
        return _thunder.dtype(name)
    except TypeError as error:
        raise TypeError(f"to: {error}" + ("; nor a device: 'cpu', 'cuda' or 'cuda:N'" if isinstance(name, str) else "")) from None


def _to(x, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """to(dtype), to(device), to(device, dtype), to(tensor like it): the tensor itself if it is that already, but with copy.
    non_blocking is taken and changes nothing; both may follow by position."""
    _memory_format.check("to", memory_format)
    flags = [argument for argument in args if isinstance(argument, bool)]
    copy = flags[1] if len(flags) == 2 else copy
    for argument in args[:len(args) - len(flags)]:
        if isinstance(argument, Tensor):
            dtype, device = argument.dtype, argument.device
        elif isinstance(argument, _thunder.device) or (isinstance(argument, str) and argument.startswith(("cpu", "cuda"))):
            device = _thunder.device(argument)
        elif argument is not None:
            dtype = _dtype_of(argument)
    made = _op["to"](x, dtype, device)
    return _op["clone"](made) if copy and (made.dtype, made.device) == (x.dtype, x.device) else made


def _size(x, dim=None):
    """The shape, or the size of one dim."""
    if dim is not None and not -x.ndim <= dim < x.ndim:
        raise IndexError(f"size: dim {dim} is out of range for a tensor of rank {x.ndim}")
    return x.shape if dim is None else x.shape[dim]


def _numel(x):
    """How many elements it has."""
    count = 1
    for size in x.shape:
        count *= size
    return count


def _iterate(x):
    if x.ndim == 0:
        raise TypeError("a tensor of rank 0 cannot be iterated over")
    return (_indexing.getitem(x, i) for i in range(x.shape[0]))


def _equal(x, other):
    """Whether both have the same shape, dtype and elements."""
    return x.shape == other.shape and x.dtype is other.dtype and bool(_op["all"](_op["eq"](x, other)))


def _transposed(x):
    return _op["permute"](x, list(range(x.ndim))[::-1])


def _cast(dtype):
    def cast(x, memory_format=None):
        _memory_format.check(cast.__name__, memory_format)
        return _op["to"](x, dtype)
    cast.__doc__ = f"The tensor as {dtype.name}."
    return cast


_members = {
    "__array__": _array, "__array_function__": _array_function,
    "__array_priority__": 1000, "__format__": _format, "__reduce__": _reduce,
    "__copy__": lambda x: x, "__deepcopy__": _deepcopy, "__iter__": _iterate, "__getitem__": _indexing.getitem,
    "__setitem__": _indexing.setitem, "numpy": _numpy, "tolist": _tolist, "to": _to, "size": _size, "numel": _numel,
    "equal": _equal, "dim": lambda x: x.ndim, "cpu": lambda x: _to(x, "cpu"), "T": property(_transposed),
    "__round__": _round, "__reversed__": _reversed, "max": extreme("amax", "maximum"),
    "min": extreme("amin", "minimum"),
    "where": lambda self, condition, other: _op["where"](condition, self, other), "mT": property(lambda x: _op["transpose"](x, -2, -1)), "t": _transposed,
    "H": property(_transposed), "mH": property(lambda x: _op["transpose"](x, -2, -1)),
}
_members |= _backward.members
for _name, _dtype in {"float": "float32", "double": "float64", "long": "int64", "int": "int32", "bool": "bool",
                      "half": "float16", "short": "int16", "char": "int8", "byte": "uint8", "bfloat16": "bfloat16"}.items():
    _members[_name] = _cast(getattr(_thunder, _dtype))
for _name, _member in _members.items():
    if isinstance(_member, types.FunctionType):
        _member.__name__, _member.__qualname__ = _name, f"Tensor.{_name}"
    setattr(Tensor, _name, covered(_member))
