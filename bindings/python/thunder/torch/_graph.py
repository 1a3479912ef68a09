"""A graph of ATen ops as a function of ours: each node is replayed on proxies as it was decided, with the line of the user that made it."""
import copy
import operator

import torch

from .. import _sizes, _thunder
from . import _lines, _private, _results, _rewrites, _symbols
from ._decide import OURS, SIZE, TORCH, Unsupported, Whole, decide, flat
from ._places import place_of, text_of
from ._rows import device_of, draws_numbers, dtype_of, find, op, sized, stores
from .aten import random


def _real(value, node, device):
    """A number computed of sizes, as an argument of a node: a tensor in the precision of its result, or for these sizes alone."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return value
    made = value.tensor() if find(node.target).takes_reals else None
    double = node.meta["val"].dtype is torch.float64 if made is not None else False
    return float(value) if made is None else op["to"](made, _thunder.float64 if double else _thunder.float32, device)


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


# ---- what torch says of the results, checked ----

def _other_type(node, made):
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


def _as_written(node, made, count):
    """The results with their sizes as torch writes them. It has guarded what it takes for equal, such as both halves of an even size."""
    fake = node.meta.get("val")
    if isinstance(made, (tuple, list)):
        return [_sized(one, ours, count) for one, ours in zip(flat(fake), made)]
    return _sized(fake, made, count)


def _sized(fake, ours, count):
    if not isinstance(fake, torch.Tensor) or not isinstance(ours, _thunder.Tensor) or len(ours.shape) != fake.ndim:
        return ours
    sizes = list(ours.shape)
    for dim, size in enumerate(fake.shape):
        if isinstance(size, torch.SymInt) and _sizes.is_symbol(sizes[dim]):
            try:
                sizes[dim] = count(_symbols.expression(size))
            except NotImplementedError:
                return ours
    return sized(ours, sizes)


# ---- the graph ----

def _ours(value):
    """A constant as we have it."""
    if not isinstance(value, torch.Tensor):
        return value
    with _private.without_modes():
        value = _lines.resolved(value.detach())
        return _lines.exchange.constant(value) if value.device.type == "cpu" else _thunder.from_dlpack(value)


class Graph:
    """What the compiled program is made of: `replay` is traced; `results` says how what it gives becomes torch's results, `sizes` which
    of torch's arguments it has. `visible`: so many results are the user's, those behind them what a backward is given. `frozen`: inputs that are constants,
    by their numbers. `shares`, `aliases`: of the results, as Results has them."""

    def __init__(self, module, visible=None, by_torch=lambda node: "", frozen=None, shares=True, aliases=()):
        self.module = module
        self.calls = {}  # what PyTorch runs, as last traced: by node the call, and why
        self.kept = []  # such calls of every trace
        self.refused = {}  # by node, why its row has refused it
        _rewrites.assert_probabilities(module.graph)
        _rewrites.make_asserts_functional(module.graph)
        _rewrites.read_whole_memory(module.graph)
        decisions = {node: decide(node, by_torch) for node in module.graph.nodes}  # before what PyTorch may not run on every device
        if not getattr(by_torch, "whole", False):
            _rewrites.rewrite(module.graph)
        self.nodes = [(node, decisions.get(node) or decide(node, by_torch)) for node in module.graph.nodes]
        self.inputs = [node for node, _ in self.nodes if node.op == "placeholder"]
        self.draws = any(decision.who is OURS and draws_numbers(node) for node, decision in self.nodes)
        written = {node.args[0] for node in stores(module.graph)}
        frozen = {at: tensor for at, tensor in (frozen or {}).items() if self.inputs[at] not in written}
        self.frozen = tuple(frozen)
        self.sizes = _symbols.Sizes(self.inputs, frozen)
        self.results = _results.Results(module.graph, self.inputs, self.sizes, visible, shares, aliases)
        self.constants = {node: _ours(operator.attrgetter(node.target)(module)) for node, _ in self.nodes if node.op == "get_attr"}
        self.constants.update((self.inputs[at], _ours(tensor)) for at, tensor in frozen.items())
        for node in self.inputs:
            if node in written and isinstance(node.meta["val"], torch.Tensor) and node.meta["val"].is_neg():
                raise Whole("an argument is written and is the negative of its memory")

    def with_frozen(self, tensors):
        """The same graph with these constants in place of the inputs that are frozen, which () takes away."""
        made, inputs = copy.copy(self), [self.inputs[at] for at in self.frozen]
        made.calls = {}
        made.constants = {node: value for node, value in self.constants.items() if node not in inputs}
        made.constants.update(zip(inputs, map(_ours, tensors)))
        return made

    def replay(self, *arguments):
        """Records the graph, for inputs of ours; a random state comes last where there is one."""
        self.calls = {}
        arguments = list(arguments)
        if self.draws:
            random.begin(arguments.pop())
        values = {self.inputs[at]: argument for at, argument in zip(self.sizes.taken, arguments)}
        proxies = [values.get(node) for node in self.inputs]
        values.update((self.inputs[at], self.sizes.count(size, proxies)) for at, size in self.sizes.given.items())
        values.update(self.constants)
        try:
            for node, decision in self.nodes:
                if node.op == "call_function":
                    values[node] = self._call(node, decision, values, proxies)
        finally:
            _thunder.set_place(None)
        return self.results.of(values)

    def _call(self, node, decision, values, proxies):
        _thunder.set_place(place_of(node))
        if decision.who is SIZE:
            return self.sizes.count(_symbols.expression(node.meta["val"]), proxies)
        if decision.who is TORCH:
            return self._line(node, values, proxies, decision.why)
        if node in self.refused:
            return self._line(node, values, proxies, self.refused[node])
        device = _device(node)
        args = [_argument(value, values, device, node) for value in node.args]
        named = {name: _argument(value, values, device, node) for name, value in node.kwargs.items()}
        varies = bool(self.sizes.bases) and _stands_for_any((args, named))
        try:
            made = decision.call(node, args, named)
        except _thunder.Error as error:  # which ends this trace
            if not varies and _lines.can(node):  # else these sizes may be what is refused
                self.refused[node] = str(error)
                _lines.note_refusal()
            raise
        except (NotImplementedError, TypeError) as error:
            return self._line(node, values, proxies, str(error), error)
        lacking = _lacking(node, made)
        if lacking is not None and _lines.can(node):
            return self._line(node, values, proxies, f"the library does not give its result {lacking}, which is read")
        made = _as_written(node, made, lambda size: self.sizes.count(size, proxies))
        other = _other_type(node, made)
        return made if other is None else self._line(node, values, proxies, other)

    def _line(self, node, values, proxies, why, error=None):
        """Records what PyTorch runs, instead of a row for which that is no call: `why`, `error`."""
        if not _lines.can(node):
            raise Unsupported(f"{text_of(node)}: {why}") from error

        def count(size):
            return int(self.sizes.count(_symbols.expression(size), proxies)) if isinstance(size, torch.SymInt) else size

        def keep(call):
            self.calls[node] = (call, why)
            self.kept.append(call)
        try:
            return _lines.record(node, values, count, keep)
        except NotImplementedError as error:
            raise Unsupported(f"{text_of(node)}: {error}") from error


def _lacking(node, made):
    """The number of a result that is read and that the row does not give, such as the factors of a solve; None: all are there."""
    if not isinstance(made, (tuple, list)):
        return None
    read = {user.args[1] for user in node.users if user.target is operator.getitem and user.users}
    return next((at for at in sorted(read) if made[at] is None and isinstance(node.meta["val"][at], torch.Tensor)), None)


def _stands_for_any(value):
    """Whether a size that stands for any is among arguments."""
    if isinstance(value, (list, tuple)):
        return any(map(_stands_for_any, value))
    if isinstance(value, dict):
        return _stands_for_any(list(value.values()))
    return any(map(_sizes.is_symbol, value.shape)) if isinstance(value, _thunder.Tensor) else _sizes.is_symbol(value)


def _device(node):
    """The device on which a node's results are; None: the CPU."""
    for fake in flat(node.meta.get("val")):
        if isinstance(fake, torch.Tensor):
            return None if fake.device.type == "cpu" else device_of(fake.device)
    return None
