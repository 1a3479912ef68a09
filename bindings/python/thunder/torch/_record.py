"""A node recorded by its row: for the values of its arguments, or by itself to see whether the row is what PyTorch's op is."""
import contextlib
import operator

import torch

from .. import _create, _thunder, func
from . import _private, _symbols
from ._places import place_of
from ._rows import device_of, dtype_of, find, op
from .aten import random


def flat(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def _device(node):
    """The device on which a node's results are; None: the CPU."""
    for fake in flat(node.meta.get("val")):
        if isinstance(fake, torch.Tensor):
            return None if fake.device.type == "cpu" else device_of(fake.device)
    return None


def _real(value, node, device):
    """A number computed of sizes, as an argument of a node: a tensor in the precision of its result, or for these sizes alone."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return value
    made = value.tensor() if find(node.target).takes_reals else None
    if not isinstance(made, _thunder.Tensor):
        return float(value)
    return op["to"](made, _thunder.float64 if node.meta["val"].dtype is torch.float64 else _thunder.float32, device)


def _argument(value, values, device, node):
    """An argument of a node as our ops take it: torch lets tensors on the CPU, numbers and places, stand beside a device's."""
    if isinstance(value, torch.fx.Node):
        value = values[value]
        if isinstance(value, _symbols.Real):
            return _real(value, node, device)
        beside = device is not None and isinstance(value, _thunder.Tensor) and value.device.type == "cpu"
        return op["to"](value, None, device) if beside else value
    if isinstance(value, (list, tuple)):
        return [_argument(one, values, device, node) for one in value]
    if isinstance(value, torch.dtype):
        return dtype_of(value)
    if isinstance(value, torch.device):
        return device_of(value)
    return value


def recorded(node, call, values):
    """What a decision's call gives for the values of other nodes."""
    device = _device(node)
    args = [_argument(value, values, device, node) for value in node.args]
    return call(node, args, {name: _argument(value, values, device, node) for name, value in node.kwargs.items()})


# ---- what torch says of the results ----

def _read(node):
    """The numbers of its results that somebody reads."""
    return sorted({user.args[1] for user in node.users if user.target is operator.getitem and user.users})


def _lacking(node, made):
    """The number of a result that is read and that the row does not give, such as the factors of a solve; None: all are there."""
    if not isinstance(made, (tuple, list)):
        return None
    return next((at for at in _read(node) if made[at] is None and isinstance(node.meta["val"][at], torch.Tensor)), None)


def other_type(node, made):
    """How a row's results differ in type from what torch says, which never is a result; None: in nothing."""
    for fake, ours in zip(flat(node.meta.get("val")), flat(made)):
        # Complex numbers are results of lines that PyTorch runs, taken from lists; here they are pairs of reals.
        if not isinstance(fake, torch.Tensor) or not isinstance(ours, _thunder.Tensor) or fake.dtype.is_complex:
            continue
        same = dtype_of(fake.dtype) is ours.dtype and fake.ndim == ours.ndim
        if same and not _private.is_symbolic(fake.shape):
            same = tuple(fake.shape) == tuple(ours.shape)
        if not same:
            return f"gives {fake.dtype} of shape {tuple(fake.shape)}, our row of it {ours.dtype} of shape {tuple(ours.shape)}; please report it"
    return None


# ---- by itself ----

_UNUSED = _create.tensor([0.0])


def _stand_in(fake):
    """A value of such a type, of the sizes that were seen."""
    if isinstance(fake, (list, tuple)):
        return [_stand_in(one) for one in fake]
    if isinstance(fake, torch.Tensor):
        return op["full"]([_private.size_hint(size) for size in fake.shape], 0, dtype_of(fake.dtype), device_of(fake.device))
    if isinstance(fake, torch.SymFloat):
        return _symbols.Real(torch.sym_float, [float(_private.size_hint(fake))])
    return _private.size_hint(fake) if isinstance(fake, _private.SYMBOLIC) else fake


def _type_text(value):
    fake = value.meta["val"] if isinstance(value, torch.fx.Node) else value
    if isinstance(fake, (list, tuple)):
        return [_type_text(one) for one in fake]
    if not isinstance(fake, torch.Tensor):
        return _private.size_hint(fake) if isinstance(fake, _private.SYMBOLIC) else fake
    return f"{fake.dtype} {fake.device} {[_private.size_hint(one) for one in (*fake.shape, *fake.stride())]}"


def refusal(node, accepted):
    """Why a node's row is not what PyTorch's op is, for the sizes that were seen; "": it is. `accepted`: of nodes before, which it adds to."""
    alike = f"{node.target} {torch.fx.map_arg((node.args, node.kwargs), _type_text)} {_type_text(node)} {_read(node)}"
    why = "" if alike in accepted else _refusal(node)
    if not why:
        accepted.add(alike)
    return why


class _Tried(Exception):
    """Ends the trace of a trial, of which nothing is made."""


def _refusal(node):
    """A transform traces the row in a scope of its own."""
    row, found = find(node.target), []

    def traced(unused):
        try:
            if row.draws:
                random.begin(op["full"]([2], 0, _thunder.int64))
            made = recorded(node, row.call, {one: _stand_in(one.meta["val"]) for one in node.all_input_nodes})
            lacking = _lacking(node, made)
            found.append(other_type(node, made) or "" if lacking is None else f"the library does not give its result {lacking}, which is read")
        except (_thunder.Error, NotImplementedError, TypeError) as error:
            found.append(str(error))
        raise _Tried
    _thunder.set_place(place_of(node))
    try:
        with contextlib.suppress(_Tried, _thunder.Error):
            func.vmap(traced)(_UNUSED)
    finally:
        _thunder.set_place(None)
    return found[0]
