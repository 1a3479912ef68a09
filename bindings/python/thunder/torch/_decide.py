"""Who runs each node of a graph, and why: said of all of them before any is recorded."""
import collections
import typing

import torch

from .. import _thunder
from . import _lines, _private, _symbols
from ._places import text_of
from ._record import flat, refusal
from ._rows import find

OURS, TORCH, SIZE, NOTHING = "thunder", "torch", "a size", "nothing"


class Unsupported(NotImplementedError):
    """A graph that the library does not take: says which op, where, and what to do."""


class Whole(Unsupported):
    """A graph that PyTorch runs as a whole: it holds graphs, tensors of kinds that nothing here is, sizes that values decide, or ops that
    no line may be, such as those that write an argument."""


class Decision(typing.NamedTuple):
    who: str
    why: str
    call: typing.Callable | None = None  # (node, arguments, named ones): what OURS records, and NOTHING gives


def told(decided):
    """Lines that say what was decided of the nodes of a graph: each that PyTorch runs, and all others by who runs them and why."""
    lines, others = [], {}
    for node, decision in decided:
        if decision.who is TORCH:
            lines.append(f"{text_of(node)}: {decision.why}")
        elif node.op == "call_function":
            name = str(node.target) if isinstance(node.target, torch._ops.OpOverload) else node.target.__name__
            others.setdefault(decision[:2], collections.Counter())[name] += 1
    return lines + [f"{who}: {why}: {', '.join(f'{count} {name}' for name, count in names.items())}" for (who, why), names in others.items()]


_GIVEN = Decision(NOTHING, "it is given")
_SIZE = Decision(SIZE, "the sizes of the arguments give it")


def decide(node, asked, accepted):
    """asked(node): why PyTorch shall run what the library has; "": it need not, and shall never run a view. `accepted`: as refusal() has it."""
    _check_type(node)
    target = node.target
    if node.op != "call_function":
        return _GIVEN
    if isinstance(target, torch._ops.OpOverload):
        return _of_op(node, find(target), asked, accepted)
    if isinstance(target, torch._ops.HigherOrderOperator):
        if not find(_private.in_order(node)).nothing:
            raise Whole(f"{text_of(node)}: a graph inside of a graph")
        return Decision(NOTHING, "it asserts what holds of what was captured", lambda node, args, named: (args[0], None))
    if isinstance(node.meta.get("val"), torch.SymInt):
        return _SIZE
    if isinstance(node.meta.get("val"), torch.SymFloat):
        return Decision(OURS, "a number computed of sizes", lambda node, args, named: _symbols.Real(node.target, args))
    return Decision(OURS, "no op of ATen's", lambda node, args, named: node.target(*args, **named))


def _of_op(node, row, asked, accepted):
    if row.nothing:
        return Decision(NOTHING, "it asserts what holds of what was captured", lambda node, args, named: None)
    if row.size:
        return _SIZE
    wish = "" if _is_view(node.target) or row.always else asked(node)
    why = "the library has no such op" if not row.function else "its numbers are complex" if _is_complex(node) else ""
    if _lines.can(node):
        why = why or wish or refusal(node, accepted)
        if why:
            return Decision(TORCH, why)
    if why:
        raise Whole(f"{text_of(node)}: {why}")
    return Decision(OURS, f"{wish}, but no line may have its results" if wish else "the library has it", row.call)


def _is_view(target):
    """Whether its results lie in the memory of an argument, as torch says."""
    return any(one.alias_info is not None for one in target._schema.returns)


def _is_complex(node):
    fakes = [fake for one in (node, *node.all_input_nodes) for fake in flat(one.meta.get("val"))]
    return any(isinstance(fake, torch.Tensor) and fake.dtype.is_complex for fake in fakes)


def _check_type(node):
    """Leaves to PyTorch what no op of ours could take."""
    for fake in flat(node.meta.get("val")):
        if isinstance(fake, torch.SymInt) and fake.node.is_nested_int():
            raise Whole(f"{text_of(node)}: is the length of a nested tensor's parts")
        if not _private.is_known(fake.shape if isinstance(fake, torch.Tensor) else [fake] if isinstance(fake, _private.SYMBOLIC) else []):
            raise Whole(f"{text_of(node)}: values of tensors decide what sizes are")
        if not isinstance(fake, torch.Tensor):
            continue
        if fake.device.type == "meta" or fake.dtype.is_floating_point and fake.dtype.itemsize == 1:
            raise Whole(f"{text_of(node)}: is {fake.dtype} on {fake.device}")
        known = getattr(_thunder, str(fake.dtype).removeprefix("torch."), None)
        real = isinstance(known, _thunder.dtype) or fake.dtype.is_complex  # which are pairs, between lines of PyTorch's
        if not real or fake.layout is not torch.strided or fake.device.type not in ("cpu", "cuda"):
            who = "an argument of the graph" if node.op == "placeholder" else text_of(node)
            raise Whole(f"{who}: is {fake.dtype} of layout {fake.layout} on {fake.device}")
