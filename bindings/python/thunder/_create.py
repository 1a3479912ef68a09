"""Tensors made of data: of numbers in lists, of arrays, of other libraries' tensors."""
import array
import functools

import numpy

from . import _arrays, _ops, _thunder
from ._sizes import SymInt
from ._thunder import Tensor

_op = _ops.functions
_CUDA = 2  # as DLPack numbers devices


def is_array(data):
    """Whether it is numpy's array, or another library's that has DLPack."""
    return not isinstance(data, Tensor) and (isinstance(data, numpy.ndarray) or hasattr(type(data), "__dlpack__"))


def tensor(data, dtype=None, device=None, requires_grad=False):
    """A tensor that holds a copy of `data`: numbers, nested lists of them, an array or a tensor, also another library's.

    Floats of Python make float32, integers int64; arrays and numpy's scalars keep their dtype, and lists of several have the one in
    which they meet. A number that the dtype cannot hold is an OverflowError; with an integer dtype, floats count without their fraction.
    """
    made = _arrays.made(_tensor(data, dtype, device))
    return made.requires_grad_() if requires_grad else made


def _tensor(data, dtype, device):
    if is_array(data) and not isinstance(data, numpy.ndarray):
        data = of_copied(data)
    if isinstance(data, Tensor):
        return _op["to"](_op["clone"](data), dtype, device)
    if isinstance(data, SymInt):
        return _op["full"]([], data, dtype, device)
    made, dtype = _of_array(data, dtype) if hasattr(data, "__array__") or _is_buffer(data) else _of_numbers(data, dtype)
    return made if made.dtype is dtype and device is None else _op["to"](made, dtype, device)


def _is_buffer(data):
    return isinstance(data, (memoryview, bytearray, array.array))


def _of_array(data, dtype):
    if isinstance(data, numpy.ndarray) and not _arrays.copies(data):
        made = _op["clone"](_thunder.share(data))  # its elements are those of each call, as a captured tensor's are
    else:
        array = numpy.asarray(data)
        if array.dtype == object or array.dtype.kind in "US":
            raise TypeError(f"tensor: {type(data).__name__} holds something else than numbers of at most 64 bits")
        made = _thunder.copied(array)
    return made, made.dtype if dtype is None else _thunder.dtype(dtype)


def _of_numbers(data, dtype):
    """Of lists of numbers; where tensors or arrays stand in them, those of their parts, joined."""
    found = _thunder.tensor_of_numbers(data, dtype)
    if found is not None:
        return found
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"tensor: a number, a list of numbers, an array or a tensor was expected, not {type(data).__name__}")
    parts = [tensor(part, dtype) for part in data]
    if len({part.shape for part in parts}) > 1:
        raise ValueError(f"tensor: the lists are not those of one shape: there are parts of {parts[0].shape} and of "
                         f"{next(part.shape for part in parts if part.shape != parts[0].shape)}")
    dtype = functools.reduce(_thunder.promote_types, (part.dtype for part in parts))
    return _op["stack"]([_op["to"](part, dtype) for part in parts]), dtype


def of_copied(data):
    """A tensor of any library as one of ours that is about to be copied: so its gradient and its device do not matter."""
    if getattr(data, "requires_grad", False) is True:
        data = data.detach()
    if hasattr(data, "cpu") and hasattr(data, "__dlpack_device__") and data.__dlpack_device__()[0] == _CUDA:
        data = data.cpu()
    return data if isinstance(data, Tensor) else _thunder.share(data)


def over_memory(data):
    """A tensor over the memory of `data` where that is possible, else over a copy."""
    return data if isinstance(data, Tensor) else _thunder.share(data) if is_array(data) else tensor(data)


def asarray(data, dtype=None, device=None):
    """A tensor over the memory of `data` where that is possible, else over a copy. What a compiled function makes of memory that was not
    there before is read alone."""
    made = _arrays.lend(data, over_memory(data)) if is_array(data) else over_memory(data)
    return made if dtype is None and device is None else _op["to"](made, dtype, device)


def from_numpy(array):
    """A tensor over the memory of a numpy array: each sees what is written into the other."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"from_numpy: a numpy array was expected, not {type(array).__name__}")
    return _arrays.lend(array, _thunder.share(array))


def from_dlpack(object):
    """A tensor over the memory of another library's array; no copy."""
    return _arrays.lend(object, _thunder.from_dlpack(object))
