"""What a PyTorch user types of tensors beside the ops, in terms of those; what the registry has under a name stays."""
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


def _requires_grad_(x, requires_grad=True):
    raise AttributeError("a tensor has no 'requires_grad_': gradients are values, which thunder.grad_of(loss, params) gives of the tensors "
                         "that it is asked for")


def _cuda(x, device=0):
    """The tensor on a GPU."""
    return x.to(f"cuda:{device}" if isinstance(device, int) else device)


def _new(name):
    def of(x, *size, dtype=None, device=None):
        shape = list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size)
        return _op[name](shape, dtype or x.dtype, device or x.device)
    of.__doc__ = f"{name}(size) of the tensor's dtype and device."
    return of


def _new_full(x, size, fill_value, dtype=None, device=None):
    """full(size, fill_value) of the tensor's dtype and device."""
    return _op["full"](list(size), fill_value, dtype or x.dtype, device or x.device)


def _new_tensor(x, data, dtype=None, device=None):
    """tensor(data) of the tensor's dtype and device."""
    return _create.tensor(data, dtype or x.dtype, device or x.device)


def _uniform_(x, *bounds, generator=None, **named):
    """uniform_(from=0, to=1): numbers between the two, drawn into the tensor."""
    rest = (("from", 0.0), ("to", 1.0))[len(bounds):]
    low, high = [*bounds, *(named.pop(name, default) for name, default in rest)][:2]
    if named or generator is not None or len(bounds) > 2:
        raise TypeError("uniform_: takes from and to; what is drawn follows thunder.seed()")
    return x.copy_(_op["uniform_like"](x, low, high))


def _normal_(x, mean=0.0, std=1.0, *, generator=None):
    """normal_(mean=0, std=1): normal numbers, drawn into the tensor."""
    if generator is not None:
        raise TypeError("normal_: takes mean and std; what is drawn follows thunder.seed()")
    return x.copy_(_op["randn_like"](x) * std + mean)


_members = {
    "__contains__": _contains, "data": property(_data, _set_data), "requires_grad_": _requires_grad_, "cuda": _cuda,
    "is_cuda": property(lambda x: x.device.type == "cuda"), "nelement": _tensor._numel, "element_size": lambda x: x.dtype.itemsize,
    "is_floating_point": lambda x: x.dtype.is_floating_point, "type_as": lambda x, other: x.to(other),
    "view_as": lambda x, other: _op["view"](x, list(other.shape)), "reshape_as": lambda x, other: _op["reshape"](x, list(other.shape)),
    "expand_as": lambda x, other: _op["expand"](x, list(other.shape)), "new_zeros": _new("zeros"), "new_ones": _new("ones"),
    "new_full": _new_full, "new_tensor": _new_tensor, "uniform_": _uniform_, "normal_": _normal_,
}
for _name, _member in _members.items():
    if not hasattr(Tensor, _name):
        setattr(Tensor, _name, _tensor.covered(_member))


def is_floating_point(input):
    """Whether the tensor's dtype is one of floats."""
    return input.dtype.is_floating_point


def get_default_dtype():
    """The dtype of floats of Python, which is always this one."""
    return _thunder.float32


constants = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}
