"""Element by element: arithmetic, comparisons, functions of numbers."""
from .._rows import is_number, op, row, same

same("abs acos acosh angle asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or "
     "bitwise_right_shift bitwise_xor ceil copysign cos cosh digamma erf erfc erfinv exp exp2 expm1 floor fmax fmin fmod frac gcd "
     "heaviside hypot i0 isfinite isinf isnan isneginf isposinf lcm ldexp lgamma log log10 log1p log2 logaddexp logaddexp2 logical_and "
     "logical_not logical_or logical_xor maximum minimum neg nextafter polygamma reciprocal remainder round rsqrt sign signbit sgn sin sinc "
     "sinh sqrt square tan tanh trunc xlogy")
same("__lshift__=bitwise_left_shift __rshift__=bitwise_right_shift __and__=bitwise_and __or__=bitwise_or "
     "__xor__=bitwise_xor frexp")
same("special_entr=entr special_erfcx=erfcx special_i0e=i0e special_i1=i1 special_i1e=i1e special_log_ndtr=log_ndtr "
     "special_ndtri=ndtri special_xlog1py=xlog1py special_zeta=zeta")
same("eq ne lt le gt ge pow sigmoid clamp clamp_min clamp_max logit")
same("mul", takes_reals=True)


@row("add", takes_reals=True)
def add(self, other, alpha=1):
    return op["add"](self, other) if alpha == 1 else op["add"](self, other, alpha)


@row("sub", takes_reals=True)
def sub(self, other, alpha=1):
    return op["sub"](self, other) if alpha == 1 else op["sub"](self, other, alpha)


@row("rsub")
def rsub(self, other, alpha=1):
    return op["rsub"](self, other, alpha)


@row("div", takes_reals=True)
@row("true_divide")
def div(self, other, rounding_mode=None):
    return op["div"](self, other, rounding_mode)


@row("floor_divide")
def floor_divide(self, other):
    return op["floor_divide"](self, other)


@row("addcmul")
def addcmul(self, tensor1, tensor2, value=1):
    return op["addcmul"](self, tensor1, tensor2, value)


@row("addcdiv")
def addcdiv(self, tensor1, tensor2, value=1):
    return op["addcdiv"](self, tensor1, tensor2, value)


@row("lerp")
def lerp(self, end, weight):
    return op["lerp"](self, end, weight)


@row("where")
def where(condition, self, other):
    return op["where"](condition, self, other)


@row("masked_fill")
def masked_fill(self, mask, value):
    if is_number(value):
        cut = isinstance(value, float) and value == value // 1 and not self.dtype.is_floating_point
        return op["masked_fill"](self, mask, int(value) if cut else value)
    return op["where"](mask, op["to"](value, self.dtype), self)


@row("nan_to_num")
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    return op["nan_to_num"](self, 0.0 if nan is None else nan, posinf, neginf)


@row("round.decimals")
def round_to(self, decimals):
    return op["round"](self, decimals)


@row("to", "_to_copy")
def to_copy(self, dtype=None, device=None, non_blocking=False, **layout):
    made = op["to"](self, dtype, device)
    return op["clone"](made) if made is self else made


@row("prims.convert_element_type")
def convert_element_type(a, dtype):
    return op["to"](a, dtype)


@row("prims.device_put")
def device_put(a, device, non_blocking=False):
    return op["to"](a, None, device)


@row("copy")
def copy(self, src, non_blocking=False):
    return op["to"](op["expand"](src, list(self.shape)), self.dtype, self.device)


@row("copy_", writes=True, always=True)
def copy_(self, src, non_blocking=False):
    """Of an argument of the graph: a write of the program."""
    return op["copy_"](self, src)


@row("fill")
def fill(self, value):
    if is_number(value):
        return op["full_like"](self, value)
    return op["expand"](op["to"](value, self.dtype, self.device), list(self.shape))


@row("clone", "lift_fresh_copy", "contiguous")
def clone(self, memory_format=None):
    return op["clone"](self)
