"""The ways to run a program, a row each: how, beside what it is right, what of it cannot be told, and what it does not take."""
import copy
import typing

import libraries
from programs import PLACES, SIZES

SAME = [(SIZES[0], PLACES[0], False), (SIZES[0], PLACES[0], False), (SIZES[0], PLACES[0], True)]
VARYING = [*((size, place, False) for size, place in zip(SIZES, PLACES)), (SIZES[1], PLACES[2], True)]


class Door(typing.NamedTuple):
    """open(program's function, its module, library): what is called in its place, and gives (results, gradients).
    own: results have memory of their own, and keep what they were. whole: a call that fails has changed nothing.
    lacks: {observable: why it is not compared}. refuses: (program -> whether it does not take it, why)."""
    open: typing.Callable
    calls: list = SAME
    gradients: bool = False
    own: bool = True
    whole: bool = True
    lacks: dict = {}
    refuses: list = []
    slow: bool = False


def _alone(f):
    return lambda *arguments: (f(*arguments), None)


def _backward(results, arguments, module):
    """The gradients of arguments and of captured tensors that require one, None where there is none."""
    wanted = [one for one in (*libraries.tensors(arguments), *module["state"].parameters()) if one.requires_grad]
    for one in wanted:
        one.grad = None
    loss = libraries.loss(results)
    try:
        if loss is not None:
            loss.backward()
    except RuntimeError as error:
        if "depends on nothing that requires grad" not in str(error):
            raise
    return [one.grad for one in wanted]


def _taped(f, module, library, backward=True):
    def run(*arguments):
        with library.tape():
            results = f(*arguments)
            return results, _backward(results, arguments, module) if backward else None
    return run


def _compiled(**options):
    return lambda f, module, library: _alone(library.compile(f, **options))


def _compiled_on_a_tape(**options):
    return lambda f, module, library: _taped(library.compile(f, **options), module, library)


def _with_state(changed):
    """Op by op, with the module that it captures as `changed` gives it."""
    def open(f, module, library):
        module["state"] = changed(module["state"])
        return _alone(f)
    return open


def _loaded(state):
    made = type(state)()
    made.load_state_dict(state.state_dict())
    return made


# Errors that say what to write instead, where op by op computes: by a part of their text.
EXPLAINED = {
    "this view was taken outside of the tape": "a view that was taken in no_grad() is outside of the tape: a write behind it is refused",
    "share one place in memory": "a write to a part of a view that overlaps itself, whose elements do not, is refused (docs/from-pytorch.md)",
}

def _reads_an_array_twice(program):
    text = "".join(text for _, text in program.body)
    return "(array" in text and ("array[1]" in text or "array.sum()" in text)


_ARRAYS = (_reads_an_array_twice,
           "of an array that numpy reads and of which a tensor is made, what numpy computed stays (docs/from-pytorch.md)")

_ITSELF = {"flags": "an op that changes nothing gives the tensor itself, on a tape a view of it"}

DOORS = {
    "op by op": Door(lambda f, module, library: _alone(f), own=False, whole=False),
    "op by op on a tape": Door(_taped, gradients=True, own=False, whole=False),
    "compiled": Door(_compiled(), refuses=[_ARRAYS]),
    "segments": Door(_compiled(fullgraph=False), refuses=[_ARRAYS]),
    "on a tape": Door(lambda f, module, library: _taped(f, module, library, False), own=False, whole=False,
        lacks=_ITSELF),
    "compiled on a tape": Door(_compiled_on_a_tape(), gradients=True, refuses=[_ARRAYS], slow=True),
    "deepcopy": Door(_with_state(copy.deepcopy), own=False, whole=False),
}
