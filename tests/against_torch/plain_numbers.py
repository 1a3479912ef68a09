"""Plain numbers beside tensors: numbers that 53, 24, 11 and 8 bits do not hold, beside each dtype, through ops of every kind, against PyTorch."""
import math

import torch

import calls
import thunder as th

NUMBERS = (2**53 + 1, -(2**62) - 3, 2**24 + 1, 70000, 300, -300, -1, 3, True, 0.1, 16777217.0, 65536.0, 1e5, 1e-9, -0.0, 1e39, -2.7)


def _explained(op, dtype, n, refused):
    """Why ours may differ from PyTorch's; None: it may not."""
    whole, narrow = isinstance(n, int), dtype in (torch.float16, torch.bfloat16)
    if refused and whole and not dtype.is_floating_point and not _fits(n, dtype):
        return "it wraps around in silence there, which is never a right comparison, quotient or count of bits"
    if refused and op == "masked_fill" and not whole and not dtype.is_floating_point:
        return "a float is refused where it would lose its fraction"
    if refused and op == "addcmul" and not whole and not dtype.is_floating_point:
        return "a fraction is refused where integers are multiplied"
    if refused and whole and abs(n) > 2**53 and op in ("threshold", "addcmul"):
        return "the argument is a float, which does not hold the integer"
    if narrow and not refused and op in ("remainder", "fmod"):
        return "the number is computed with in float32, as in all other ops; there it is rounded to the dtype first"
    return None


def _calls(module, x, n):
    """(op, function) of x and the number."""
    positive, zero = x == x, module.from_dlpack(torch.zeros(1, dtype=torch.int64))
    for op in ("add", "sub", "mul", "true_divide", "floor_divide", "remainder", "fmod", "pow", "eq", "lt", "ge", "bitwise_and", "bitwise_or",
               "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "rsub"):
        yield op, lambda op=op: getattr(module, op)(x, n)
    yield "number / x", lambda: n / x
    yield "number - x", lambda: n - x
    yield "clamp", lambda: x.clamp(max=n)
    yield "clamp from below", lambda: x.clamp(min=n)
    yield "where", lambda: module.where(positive, n, x)
    yield "masked_fill", lambda: x.masked_fill(positive, n)
    yield "fill_", lambda: x.clone().fill_(n)
    yield "index_fill", lambda: x.index_fill(0, zero, n)
    yield "scatter", lambda: x.scatter(0, zero, n)
    yield "full_like", lambda: module.full_like(x, n)
    yield "threshold", lambda: module.nn.functional.threshold(x, 1, n)
    yield "mul_", lambda: x.clone().mul_(n)
    yield "add_", lambda: x.clone().add_(n)
    yield "addcmul", lambda: module.addcmul(x, x, x, value=n)
    yield "add with alpha", lambda: module.add(x, x, alpha=n)
    yield "float_power", lambda: module.float_power(x, n)


def _result(function):
    """(dtype, elements); None where it is refused."""
    try:
        made = function()
    except (th.Error, TypeError, RuntimeError, ValueError, AttributeError, NotImplementedError, OverflowError):
        return None
    name = made.dtype.name if hasattr(made.dtype, "name") else calls.dtype_name(made.dtype)
    return name, made.tolist()


def _near(ours, theirs, dtype):
    """Whether they are equal, reals up to two units in the last place: PyTorch computes some powers another way."""
    if not isinstance(theirs, float):
        return ours == theirs
    if math.isnan(theirs) or math.isinf(theirs) or math.isinf(ours):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    return math.isclose(ours, theirs, rel_tol=2 * getattr(torch.finfo(getattr(torch, dtype)), "eps"), abs_tol=1e-300)


def compare():
    """Rows {op, a, b, ours, theirs}, one for each call that differs without a reason, and how many calls PyTorch takes."""
    rows, tried = [], 0
    for dtype in calls._DTYPES:
        x = torch.tensor([1, 0, 1] if dtype is torch.bool else [1, 2, 7], dtype=dtype)
        for n in NUMBERS:
            ours = dict(_calls(th, th.from_dlpack(x), n))
            for op, function in _calls(torch, x, n):
                theirs = _result(function)
                if theirs is None:
                    continue
                tried += 1
                made = _result(ours[op])
                same = made is not None and made[0] == theirs[0] and all(_near(a, b, theirs[0]) for a, b in zip(made[1], theirs[1]))
                if not same and not _explained(op, dtype, n, made is None):
                    rows.append({"op": op, "a": calls.dtype_name(dtype), "b": repr(n), "ours": made, "theirs": theirs})
    return rows, tried


def _fits(n, dtype):
    limits = torch.iinfo(torch.int64 if dtype is torch.bool else dtype)
    return (limits.min or -limits.max) <= n <= limits.max
