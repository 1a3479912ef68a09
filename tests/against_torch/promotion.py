"""Type promotion: each of our dtypes with each, as tensors, tensors without dims and numbers, against PyTorch."""
import torch

import calls
import thunder as th

OPS = ("add", "sub", "mul", "true_divide", "floor_divide", "remainder", "pow", "eq", "lt", "maximum", "bitwise_and", "bitwise_left_shift",
       "logical_and", "where", "cat", "result_type")


def _operands():
    """(text, operand of PyTorch) of every dtype with and without dims, and of numbers."""
    for dtype in calls._DTYPES:
        name = calls.dtype_name(dtype)
        yield f"{name}[2]", torch.ones(2, dtype=dtype)
        yield f"{name}[]", torch.ones((), dtype=dtype)
    yield from (("True", True), ("1", 1), ("1.5", 1.5))


def _apply(module, op, a, b, condition):
    if op == "where":
        return module.where(condition, a, b)
    if op == "cat":
        return module.cat([a, b])
    return getattr(module, op)(a, b)


def _result(module, op, a, b, condition):
    """The name of the dtype that comes out; None where it is refused."""
    try:
        made = _apply(module, op, a, b, condition)
    except (th.Error, TypeError, RuntimeError, ValueError, AttributeError, NotImplementedError):
        return None
    dtype = getattr(made, "dtype", made)
    return dtype.name if hasattr(dtype, "name") else calls.dtype_name(dtype)


def compare():
    """Rows {op, a, b, ours, theirs}, one for each pair that differs, and how many PyTorch takes; ours may take more."""
    condition, rows, tried = torch.tensor([True, False]), [], 0
    for op in OPS:
        for name, a in _operands():
            for other, b in _operands():
                if not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor) or (op == "cat" and not name.endswith("[2]") | other.endswith("[2]")):
                    continue
                theirs = _result(torch, op, a, b, condition)
                if theirs is None:
                    continue
                ours = _result(th, op, *(th.from_dlpack(x) if isinstance(x, torch.Tensor) else x for x in (a, b, condition)))
                tried += 1
                if ours != theirs:
                    rows.append({"op": op, "a": name, "b": other, "ours": ours, "theirs": theirs})
    return rows, tried
