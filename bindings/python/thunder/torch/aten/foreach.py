"""Lists of tensors, as optimizers write them: the op of each."""
from .. import _rows
from .._rows import op, row

_UNARY = "abs neg sqrt rsqrt exp log reciprocal sign round floor ceil trunc sigmoid tanh erf expm1 log1p log2 log10 sin cos tan sinh cosh"
_BINARY = "add sub mul div maximum minimum clamp_max clamp_min pow"


def _each(length, value):
    """One for each tensor: a list has its own for each, anything else is for all."""
    return value if isinstance(value, (list, tuple)) else [value] * length


def _unary(name):
    row(f"_foreach_{name}")(lambda self: [op[name](x) for x in self])


def _binary(name):
    def apply(self, other, alpha=1):
        other = _each(len(self), other)
        if alpha != 1:
            other = [op["mul"](y, alpha) for y in other]
        return [op[name](x, y) for x, y in zip(self, other)]
    row(f"_foreach_{name}")(apply)


def _fused(name):
    def apply(self, tensor1, tensor2, value=1):
        if hasattr(value, "ndim"):
            value = list(op["unbind"](value, 0))
        return [_of_value(name, *of) for of in zip(self, tensor1, tensor2, _each(len(self), value))]
    row(f"_foreach_{name}")(apply)


def _of_value(name, x, a, b, value):
    if _rows.is_number(value):
        return op[name](x, a, b, value)
    return x + value * (a * b if name == "addcmul" else a / b)


for _name in _UNARY.split():
    _unary(_name)
for _name in _BINARY.split():
    _binary(_name)
for _name in ("addcmul", "addcdiv"):
    _fused(_name)


@row("_foreach_lerp")
def lerp(self, end, weight):
    return [op["lerp"](x, y, w) for x, y, w in zip(self, end, _each(len(self), weight))]


@row("_foreach_zero")
def zero(self):
    return [op["zeros_like"](x) for x in self]


@row("_foreach_copy")
def copy(self, src, non_blocking=False):
    return [op["to"](op["expand"](y, list(x.shape)), x.dtype, x.device) for x, y in zip(self, src)]


@row("_foreach_norm")
def norm(self, ord=2, dtype=None):
    return [op["linalg_vector_norm"](x, ord, None, False, dtype) for x in self]
