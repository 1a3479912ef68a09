"""Whether what ours gave is what PyTorch gave: structure, shapes, dtypes, then values."""
import torch

import thunder as th
from calls import DTYPES_OF_OURS

# Those of torch.testing.assert_close: relative and absolute.
TOLERANCES = {torch.float64: (1e-7, 1e-7), torch.float32: (1.3e-6, 1e-5), torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5)}


class Differs(Exception):
    """What differs, in a sentence."""


def leaves(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, (list, tuple)) else [tree]


def to_torch(tensor):
    return torch.from_dlpack(tensor)


def _bounds(theirs, exact):
    """How far from theirs an element may be. `exact` is PyTorch's result of the same sample in float64, where there is one: rounding
    that takes theirs away from it may take ours as far to the other side."""
    relative, absolute = TOLERANCES[theirs.dtype]
    wide = theirs.double()
    bound = absolute + relative * wide.abs()
    if exact is not None and exact.shape == theirs.shape and exact.is_floating_point():
        error = (wide - exact).abs().nan_to_num(0.0, 0.0, 0.0)
        bound = bound + 2 * error + (2 * error.max() if error.numel() else 0.0)
    return bound


def _values(ours, theirs, exact, where):
    if not theirs.is_floating_point():
        wrong = ours != theirs
    else:
        a, b = ours.double(), theirs.double()
        close = ((a - b).abs() <= _bounds(theirs, exact)) | (a == b) | (a.isnan() & b.isnan())
        wrong = ~close
    if bool(wrong.any()):
        at = tuple(int(i) for i in wrong.nonzero()[0])
        raise Differs(f"{where}{int(wrong.sum())} of {wrong.numel()} values differ: at {list(at)} {ours[at].item()}, "
                      f"PyTorch {theirs[at].item()}")


def tensors(ours, theirs, exact=None, where="", values=True):
    """Raises Differs unless our tensor is PyTorch's."""
    if not isinstance(ours, th.Tensor):
        raise Differs(f"{where}a {type(ours).__name__}, PyTorch a tensor")
    if tuple(ours.shape) != tuple(theirs.shape):
        raise Differs(f"{where}shape {list(ours.shape)}, PyTorch {list(theirs.shape)}")
    if DTYPES_OF_OURS[ours.dtype.name] is not theirs.dtype:
        raise Differs(f"{where}dtype {ours.dtype.name}, PyTorch {str(theirs.dtype).removeprefix('torch.')}")
    if values:
        _values(to_torch(ours), theirs.detach(), exact, where)


def results(ours, theirs, exact=None, values=True):
    """The same of all that a call gives. exact: as for _bounds, or None."""
    ours, theirs = leaves(ours), leaves(theirs)
    exact = leaves(exact) if exact is not None else []
    if len(ours) != len(theirs):
        raise Differs(f"{len(ours)} results, PyTorch {len(theirs)}")
    exact = exact if len(exact) == len(theirs) else [None] * len(theirs)
    for i, (a, b, e) in enumerate(zip(ours, theirs, exact)):
        where = f"result {i}: " if len(theirs) > 1 else ""
        if isinstance(b, torch.Tensor):
            tensors(a, b, e if isinstance(e, torch.Tensor) else None, where, values)
        elif type(a) is not type(b) or (values and not (a == b or (a != a and b != b))):
            if values or type(a) is not type(b):
                raise Differs(f"{where}{a!r}, PyTorch {b!r}")
