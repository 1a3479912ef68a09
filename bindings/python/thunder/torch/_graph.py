"""A graph of ATen ops as a function of ours: each node is replayed on proxies as it was decided, with the line of the user that made it."""
import copy
import operator

import torch

from .. import _sizes, _thunder
from . import _lines, _private, _results, _rewrites, _symbols
from ._decide import OURS, SIZE, TORCH, Unsupported, Whole, decide
from ._places import place_of, text_of
from ._record import flat, other_type, recorded
from ._rows import draws_numbers, sized, stores
from .aten import random


# ---- what torch says of the results, checked ----

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
    by their numbers. `shares`, `aliases`, `recorded`: of the results, as Results has them."""

    def __init__(self, module, visible=None, by_torch=lambda node: "", frozen=None, shares=True, aliases=(), recorded=False):
        self.module = module
        self.kept = []  # calls of PyTorch's, of every trace
        _rewrites.assert_probabilities(module.graph)
        _rewrites.make_asserts_functional(module.graph)
        _rewrites.read_whole_memory(module.graph)
        accepted = set()
        decisions = {node: decide(node, by_torch, accepted) for node in module.graph.nodes}  # before what PyTorch may not run on every device
        if not getattr(by_torch, "whole", False):
            _rewrites.rewrite(module.graph)
        self.nodes = [(node, decisions.get(node) or decide(node, by_torch, accepted)) for node in module.graph.nodes]
        self.lines = {node: decision.why for node, decision in self.nodes if decision.who is TORCH}
        self.inputs = [node for node, _ in self.nodes if node.op == "placeholder"]
        self.draws = any(decision.who is OURS and draws_numbers(node) for node, decision in self.nodes)
        written = {node.args[0] for node in stores(module.graph)}
        frozen = {at: tensor for at, tensor in (frozen or {}).items() if self.inputs[at] not in written}
        self.frozen = tuple(frozen)
        self.sizes = _symbols.Sizes(self.inputs, frozen)
        self.results = _results.Results(module.graph, self.inputs, self.sizes, visible, shares, aliases, recorded)
        self.constants = {node: _ours(operator.attrgetter(node.target)(module)) for node, _ in self.nodes if node.op == "get_attr"}
        self.constants.update((self.inputs[at], _ours(tensor)) for at, tensor in frozen.items())
        for node in self.inputs:
            if node in written and isinstance(node.meta["val"], torch.Tensor) and node.meta["val"].is_neg():
                raise Whole("an argument is written and is the negative of its memory")

    def with_frozen(self, tensors):
        """The same graph with these constants in place of the inputs that are frozen, which () takes away."""
        made, inputs = copy.copy(self), [self.inputs[at] for at in self.frozen]
        made.constants = {node: value for node, value in self.constants.items() if node not in inputs}
        made.constants.update(zip(inputs, map(_ours, tensors)))
        return made

    def replay(self, *arguments):
        """Records the graph, for inputs of ours; a random state comes last where there is one."""
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
            return self._line(node, values, proxies)
        try:
            made = recorded(node, decision.call, values)
        except (NotImplementedError, TypeError) as error:
            raise Unsupported(f"{text_of(node)}: {error}") from error
        made = _as_written(node, made, lambda size: self.sizes.count(size, proxies))
        other = other_type(node, made)
        if other is not None:
            raise Unsupported(f"{text_of(node)}: {other}")
        return made

    def _line(self, node, values, proxies):
        """Records what PyTorch runs."""
        def count(size):
            return int(self.sizes.count(_symbols.expression(size), proxies)) if isinstance(size, torch.SymInt) else size
        try:
            return _lines.record(node, values, count, self.kept.append)
        except NotImplementedError as error:
            raise Unsupported(f"{text_of(node)}: {error}") from error
