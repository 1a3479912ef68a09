"""The ways to run a program, a row each: how, what of it cannot be told and why, and what it does not take and why."""
import copy
import types
import typing

import elsewhere
import ways
from programs import PLACES, SIZES

SAME = [(SIZES[0], PLACES[0], False), (SIZES[0], PLACES[0], False), (SIZES[0], PLACES[0], True)]
UNCHANGED = SAME[:2]
VARYING = [*((size, place, False) for size, place in zip(SIZES, PLACES)), (SIZES[1], PLACES[2], True)]


class Door(typing.NamedTuple):
    """open: see ways.py. calls: (size, place, whether the host changes before) of each. gradients: whether it gives them, beside a tape; only:
    those of "arguments", zeros where a tape has None, or of the "state" that is captured. beside: the door that is right, if not op by op.
    own: results have memory of their own, and keep what they were. whole: a call that fails has changed nothing. lacks: {observable: why it
    is not compared}. refuses: (program -> whether it does not take it, why). theirs: a way whose differences are no fault of this one.
    library: whose functions it runs, if not those of all. one_in: it takes one program in so many, where it starts other processes."""
    open: typing.Callable
    calls: list = SAME
    gradients: bool = False
    only: str = ""
    beside: str = ""
    own: bool = True
    whole: bool = True
    lacks: dict = {}
    refuses: list = []
    theirs: typing.Callable = None
    library: types.ModuleType = None
    slow: bool = False
    one_in: int = 1


# Errors that say what to write instead, where op by op computes: by a part of their text.
EXPLAINED = {
    "the loss depends on nothing that requires grad": "a backward of what depends on no parameter is refused",
    "written in place after the loss had used it": "a gradient by what an argument held before a write is refused",
    "this view was taken outside of the tape": "a view taken in no_grad() is outside of the tape: a write behind it is refused",
    "and backward() inside of that": "a backward inside that would give an argument a gradient is refused",
    "cannot be written": "C and ONNX are written of what docs/programs.md and docs/engines.md name",
    "there is no type for": "C has no type for bfloat16 and float16",
    "of a traced tensor": "what reads a value of a tensor is no one program: segments take it",
    "a traced tensor has no elements": "what shows numpy a tensor is no one program: segments take it",
    "while it is traced, and is read here": "what reads a value that it wrote is no one program: segments take it",
    "numpy reads elements of": "numpy would see what a tensor was before the program wrote it",
    "share one place in memory": "a write to a part of a view that overlaps itself is refused, even if that part does not",
}


def does(*kinds):
    return lambda program: bool(program.kinds.intersection(kinds))


def _no_gradient(program):
    return not any(argument.grad for argument in program.arguments)


def _writes_captured(program):
    return "writes captured" in program.kinds or {"captured", "write"} <= program.kinds


_NO_GRADIENT = (_no_gradient, "no argument requires a gradient")
_BATCHES = (lambda program: "draw" in program.kinds or _writes_captured(program),
            "what a batch draws or writes into captured tensors is that of all examples")
_COPIES = (_writes_captured, "captured tensors are in the file, where it writes them")
_READS_WHAT_IT_WRITES = (lambda program: "read" in program.kinds and _writes_captured(program),
    "a trace keeps the numbers that it read of captured tensors: check_trace finds that they change")
_WRITES = (does("write", "writes captured", "draw", "no_grad"),
    "what a model writes, or its random state, are further inputs and outputs")
_OF_SEEDS = (does("draw"), "C and Lua tell no state of the generator")
_LENT = (lambda program: any("(array" in text for _, text in program.body),
    "memory of an array is taken for a constant")
_NO_PARAMETER = (lambda program: all("state.weight" not in text for _, text in program.body), "it reads no parameter")
_NO_COPY = (lambda program: True, "copy.copy() of a module is refused: deepcopy() makes another one")

_OF_BATCHES = {name: "results op by op may lie in the memory of a batch" for name in ("memory", "strides", "flags",
    "later")}
_DENSE = {"strides": "results are dense arrays, or read from a file", "flags": "what C and files give requires no gradient"}
_OF_FILES = {"host": "a program in a file has no host", "error": "what a program in a file refuses is a th.Error"}


def _eager(open, calls=SAME, **named):
    return Door(open, calls, own=False, whole=False, **named)


def _compiled(open, calls=SAME, *refuses, **named):
    return Door(open, calls, refuses=[*refuses], **named)


def _inner(f, module, library):
    """value_and_grad of a compiled function."""
    return ways.value_and_grad()(library.compile(f), module, library)


# Of functions of gradients those of arguments are compared, zeros where a tape has none.
_GRADIENTS = {"gradients": True, "only": "arguments", "slow": True}

DOORS = {
    "op by op": _eager(ways.op_by_op),
    "op by op on a tape": _eager(ways.on_a_tape, gradients=True),
    "on a tape": _eager(ways.forward_on_a_tape),
    "compiled": _compiled(ways.compiled()),
    "compiled for any size": _compiled(ways.compiled(dynamic=True), VARYING),
    "compiled for sizes that vary": _compiled(ways.compiled(), VARYING),
    "segments": _compiled(ways.compiled(fullgraph=False)),
    "segments for sizes that vary": _compiled(ways.compiled(fullgraph=False), VARYING),
    "disabled": _compiled(ways.compiled(disable=True), whole=False, slow=True),
    "by the executor host": _compiled(ways.compiled(executors=["host"]), slow=True),
    "freezing": _compiled(ways.compiled(freezing=True), SAME, _LENT, slow=True),
    "compiled on a tape": _compiled(ways.compiled_on_a_tape(), gradients=True),
    "compiled on a tape for sizes that vary": _compiled(ways.compiled_on_a_tape(), VARYING, gradients=True,
    slow=True),
    "segments on a tape": _compiled(ways.compiled_on_a_tape(fullgraph=False), gradients=True, whole=False),
    "value_and_grad": _eager(ways.value_and_grad(), SAME, refuses=[_NO_GRADIENT], **_GRADIENTS),
    "compiled value_and_grad": _compiled(ways.value_and_grad(True), SAME, _NO_GRADIENT, **_GRADIENTS),
    "value_and_grad of compiled": _compiled(_inner, SAME, _NO_GRADIENT, **_GRADIENTS),
    "backward inside": _compiled(ways.backward_inside(), SAME, _NO_PARAMETER, gradients=True, only="state", slow=True),
    "vmap": Door(ways.batched(), lacks=_OF_BATCHES, refuses=[_BATCHES], slow=True),
    "compiled vmap": _compiled(ways.batched(True), SAME, _BATCHES, slow=True),
    "saved": _compiled(ways.saved(), UNCHANGED, _COPIES, lacks=_OF_FILES, slow=True),
    "traced": _compiled(ways.traced, UNCHANGED, _READS_WHAT_IT_WRITES, lacks=_OF_FILES, slow=True),
    "onnx": _compiled(ways.by_onnx, UNCHANGED, _WRITES, lacks=_OF_FILES, slow=True),
    "exported as C": _compiled(elsewhere.as_c, UNCHANGED, _COPIES, _OF_SEEDS, lacks=_OF_FILES | _DENSE, slow=True, one_in=9),
    "saved, from Lua": _compiled(elsewhere.by_lua, UNCHANGED, _COPIES, _OF_SEEDS, lacks=_OF_FILES | _DENSE, slow=True, one_in=9),
    "module copied": _eager(ways.with_state(copy.copy), refuses=[_NO_COPY]),
    "module deep copied": _eager(ways.with_state(copy.deepcopy)),
    "module loaded": _eager(ways.with_state(ways.loaded_state)),
    "module through float64": _eager(ways.with_state(ways.through_float64)),
    "module with pickled tensors": _eager(ways.with_state(ways.pickled_tensors)),
}
