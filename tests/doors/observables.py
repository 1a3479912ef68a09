"""All that can be told of a call from outside, a row each: how it is looked at, and how two looks at it are compared."""
import functools
import typing
import warnings

import numpy as np

import libraries
from libraries import addresses, array, is_tensor, leaves, tensors

TOLERANCE = {"float32": 2e-5, "float16": 4e-3}  # of what a program computes, whatever it is converted to at last

_ONCE = "runs op by op on tapes, without a backward of its own"  # a function says so once, at one of the calls that follow


class Look:
    """What is at hand after a call: its arguments, results, gradients or error, and the module of the program."""

    def __init__(self, library, module, arguments):
        self.library, self.module, self.arguments = library, module, arguments
        self.results, self.gradients, self.error, self.warnings = None, None, None, []

    @functools.cached_property
    def captured(self):
        """Tensors that the program may write beside its arguments."""
        state = self.module["state"]
        return [self.module["captured"], state.weight, state.frozen, state.buffer, state.passing]

    @functools.cached_property
    def given(self):
        return [*tensors(self.arguments), *self.captured]


def _values(look):
    return [array(leaf) if is_tensor(leaf) else leaf for leaf in leaves(look.results)]


def _types(look):
    return [(libraries.dtype(leaf), tuple(leaf.shape)) if is_tensor(leaf) else type(leaf).__name__
        for leaf in leaves(look.results)]


def _strides(look):
    return [(tuple(one.stride()) if one.numel() > 1 else None) for one in tensors(look.results)]


def _numbered(several):
    """For each element of each the number of its place in memory, in the order in which places are first met: where two are one place, they
    have the same."""
    _, first, which = np.unique(np.concatenate([addresses(one).ravel() for one in several]), return_index=True, return_inverse=True)
    order = np.empty_like(first)
    order[np.argsort(first)] = np.arange(len(first))
    return order[which]


def _memory(look):
    """Which elements of arguments, captured tensors and results are one place."""
    return _numbered([*look.given, *tensors(look.results)])


def _own_memory(look):
    """The same of results that share nothing."""
    numbers = _numbered(look.given)
    return np.concatenate([numbers, numbers.max() + 1 + np.arange(sum(one.numel() for one in tensors(look.results)))])


def _dense(tensor):
    strides, count = [], 1
    for size in reversed(tensor.shape):
        strides.append(count)
        count *= size
    return tuple(reversed(strides))


def _written(look):
    return [array(one) for one in look.given] + [look.module["array"].copy()]


def _written_with_a_gradient(look):
    """Whether an argument or a captured tensor that requires a gradient was written."""
    return any(one.requires_grad and difference(before, array(one), 0) for one, before in zip(look.given, look.before))


def _host(look):
    """What the host holds: a call leaves it as the function does."""
    module = look.module
    return [list(module["numbers"]), dict(module["table"]), dict(vars(module["holder"])), module["scale"],
        module["read"](), module["state"].training]


def _attributes(look):
    state = look.module["state"]
    names = [*state.named_parameters(), *state.named_buffers()]
    return [(name, libraries.dtype(one), one.requires_grad, tuple(one.shape)) for name,
        one in names] + [sorted(state.state_dict())]


def _gradients(look):
    return [one if one is None else array(one) for one in look.gradients or ()]


def _generator(look):
    return libraries.generator_state(look.library)


def _error(look):
    return None if look.error is None else type(look.error).__name__


def _later(look):
    """The results when all calls are done: nothing wrote into what was given."""
    return _values(look)


def _draws(look):
    return [array(look.library.rand(3)) for _ in range(3)]


class Observable(typing.NamedTuple):
    """at_end: looked at when all calls are done, not after each; results: only of calls that give some."""
    of: typing.Callable
    at_end: bool = False
    results: bool = True


def _text(of, **named):
    """One without arrays, which is compared as text: 1, 1.0 and True differ."""
    return Observable(lambda look: repr(of(look)), **named)


OBSERVABLES = {
    "error": Observable(_error, results=False),
    "types": _text(_types),
    "values": Observable(_values),
    "strides": _text(_strides),
    "memory": Observable(_memory),
    "written": Observable(_written, results=False),
    "host": _text(_host, results=False),
    "attributes": _text(_attributes, at_end=True, results=False),
    "gradients": Observable(_gradients),
    "flags": _text(lambda look: [one.requires_grad for one in tensors(look.results)]),
    "warnings": _text(lambda look: look.warnings, results=False),
    "generator": _text(_generator, results=False),
    "later": Observable(_later, at_end=True),
    "draws": Observable(_draws, at_end=True, results=False),
}

# Of op by op, what these would be where results have memory of their own: what doors have to show that say so.
OF_THE_RIGHT = {
    "own memory": Observable(_own_memory),
    "own strides": _text(lambda look: [(_dense(one) if one.numel() > 1 else None) for one in tensors(look.results)]),
    "own flags": _text(lambda look: [False for _ in tensors(look.results)]),
    "written with a gradient": Observable(_written_with_a_gradient),
}

# Of a door, what was there before: where it is whole, a call that fails has changed nothing.
OF_THE_DOOR = {
    "written before": Observable(lambda look: look.before, results=False),
    "generator before": _text(lambda look: look.generator_before, results=False),
}
DERIVED = OF_THE_RIGHT | OF_THE_DOOR


def observe(run, module, library, calls, wanted):
    """Runs the calls (sizes, place, whether the host changes before); {(call, observable): what was seen} of `wanted`, rows by their names.
    `run` gives (results, gradients)."""
    library.manual_seed(11)
    seen, looks = {}, []
    for number, (size, place, changes) in enumerate(calls):
        if changes:
            exec(module["CHANGE"], module)
        look = Look(library, module, module["arguments"](size, place, number))
        if not DERIVED.keys().isdisjoint(wanted):
            look.before, look.generator_before = _written(look), _generator(look)
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                look.results, look.gradients = run(*look.arguments)
            except Exception as error:
                look.error = error
        look.warnings = sorted({f"{one.category.__name__}: {one.message}" for one in caught
            if _ONCE not in str(one.message)})
        looks.append(look)
        for name, row in wanted.items():
            if not row.at_end and (look.error is None or not row.results):
                seen[number, name] = row.of(look)
    for name, row in wanted.items():
        if row.at_end:
            for number, look in enumerate(looks if row.results else looks[-1:]):
                if look.error is None or not row.results:
                    seen[number if row.results else "end", name] = row.of(look)
    return seen, [look.error for look in looks if look.error is not None]


def difference(wanted, got, tolerance):
    """How two looks differ, in words; None: they do not."""
    if isinstance(wanted, (list, tuple)) and isinstance(got, (list, tuple)):
        if len(wanted) != len(got):
            return f"{len(got)} of them, right are {len(wanted)}: {_short(got)}, right is {_short(wanted)}"
        return next((f"[{at}] {what}" for at, pair in enumerate(zip(wanted, got)) if (what := difference(*pair,
            tolerance))), None)
    if isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
        return _of_arrays(wanted, got, tolerance)
    same = wanted == got if type(wanted) is type(got) else False
    return None if same is True else f"{_short(got)}, right is {_short(wanted)}"


def _of_arrays(wanted, got, tolerance):
    if wanted.shape != got.shape:
        return f"shape {got.shape}, right is {wanted.shape}"
    if wanted.dtype == got.dtype and wanted.tobytes() == got.tobytes():
        return None
    near = tolerance if wanted.dtype.kind == "f" else 0
    with np.errstate(all="ignore"):
        finite = np.abs(wanted[np.isfinite(wanted)]) if wanted.dtype.kind == "f" else np.abs(wanted.astype(np.float64))
        far = ~np.isclose(got, wanted, rtol=near, atol=near * max(1, finite.max(initial=0)), equal_nan=True)
    return f"{_short(got[far])}, right is {_short(wanted[far])}, at {np.argwhere(far)[0].tolist()}" if far.any() else None


def _short(value):
    text = " ".join(str(value).split())
    return text if len(text) < 160 else text[:157] + "..."
