"""Functions that a module calls as a gradient passes through it: register_full_backward_pre_hook(), register_full_backward_hook().

Where a gradient may be asked for, such a module gets copies of its positional inputs and gives copies of its outputs, by two ops
whose gradients call the hooks: that of the outputs comes first.
"""
import itertools
import warnings
import weakref

from . import _ops, _schema, _thunder
from ._thunder import Tensor

_calls, _numbers = itertools.count(), itertools.count()
_modules = weakref.WeakValueDictionary()  # by the number that the ops know them by
_waiting = {}  # (module, call): the gradients of outputs, until those of the inputs are there
_made = {}  # the two ops


def _hooks_of(number, name):
    module = _modules.get(number)
    return module, list(module.__dict__.get(name, {}).values()) if module is not None else []


def _tuple(one):
    return one if isinstance(one, tuple) else (one,)


def _replaced(what, gradients, changed):
    """What a hook gave in the place of gradients; None: they stay."""
    if changed is None:
        return gradients
    if len(_tuple(changed)) != len(gradients):
        raise RuntimeError(f"a backward hook gave {len(_tuple(changed))} gradients of the {what}, there are {len(gradients)}")
    return _tuple(changed)


def _run(number, count, places, gradients, of_outputs):
    """The hooks, with the gradients of the inputs at their places among the positional arguments; those of the tensors."""
    whole = [None] * count
    for place, gradient in zip(places, gradients):
        whole[place] = gradient
    whole = tuple(whole)
    module, hooks = _hooks_of(number, "_backward_hooks")
    for hook, in hooks:
        whole = _replaced("inputs", whole, hook(module, whole, of_outputs))
    return [whole[place] for place in places]


def _kept(gradients):
    """The same, which on a tape have elements and outlive the call of a hook."""
    for gradient in gradients:
        _thunder.materialize(gradient)
    return tuple(gradients)


def _outputs_gradient(args, results, cotangents, needs):
    inputs, number, call, count, places = args[1:]
    gradients = _kept(cotangents)
    module, hooks = _hooks_of(number, "_backward_pre_hooks")
    for hook, in hooks:
        gradients = _replaced("outputs", gradients, hook(module, gradients))
    if needs[1]:
        _waiting[number, call] = _kept(gradients)
    else:
        _run(number, count, (), (), gradients)
    return (list(gradients), [None] * len(inputs))


def _inputs_gradient(args, results, cotangents, needs):
    number, call, count, places = args[1:]
    return (_run(number, count, places, _kept(cotangents), _waiting.pop((number, call), ())),)


_ROWS = {
    "nn.module_inputs": ("(tensor[] inputs, int module, int call, int count, int[] places) -> tensor[]", _inputs_gradient),
    "nn.module_outputs": ("(tensor[] outputs, tensor[] inputs, int module, int call, int count, int[] places) -> tensor[]", _outputs_gradient),
}


def _op(name):
    if name not in _made:
        signature, gradient = _ROWS[name]
        _thunder.add_op(name + signature, "Copies, whose gradients call a module's backward hooks.", 0,
                        lambda tensors, *rest: tuple(_ops.functions["clone"](one) for one in tensors), None, gradient)
        _made[name] = _ops._make(next(row for row in _schema.describe("ops") if row["name"] == name), name)[0]
    return _made[name]


def _real(value):
    return isinstance(value, Tensor) and value.dtype.is_floating_point


def around(module, args, forward):
    """forward(args), such that a gradient that passes calls the hooks of the module."""
    number = module.__dict__.setdefault("_number", next(_numbers))
    _modules[number] = module
    places = [place for place, value in enumerate(args) if _real(value)]
    inputs, about = [args[place] for place in places], (number, next(_calls), len(args), places)
    if places:
        args = list(args)
        for place, copy in zip(places, _op("nn.module_inputs")(inputs, *about)):
            args[place] = copy
    result = forward(tuple(args))
    outputs = _tuple(result)
    if not all(isinstance(one, Tensor) for one in outputs):
        warnings.warn(f"{type(module).__name__}: backward hooks are called where a module gives a tensor or a tuple of tensors, this one "
                      f"gave {type(result).__name__}", stacklevel=2)
        return result
    real = [place for place, value in enumerate(outputs) if _real(value)]
    if real:
        outputs = list(outputs)
        for place, copy in zip(real, _op("nn.module_outputs")([outputs[place] for place in real], inputs, *about)):
            outputs[place] = copy
    return tuple(outputs) if isinstance(result, tuple) else outputs[0]
