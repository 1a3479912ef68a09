"""Calls and results that PyTorch has of some ops beside what their schemas say."""
import collections
import inspect

import numpy

from . import _names, _running, _signatures, _thunder

return_types = _names.namespace("thunder.return_types",
                                "The named tuples that ops with several results give, such as x.sort().values.", {})


def _text(results):
    parts = ",\n".join(f"{name}={value!r}" for name, value in zip(results._fields, results))
    return f"{type(results).__name__}(\n{parts})"


def results_type(name, fields):
    """The named tuple of an op's several results; None where they have no names."""
    if not fields:
        return None
    if name not in vars(return_types):
        made = collections.namedtuple(name, fields, module="thunder.return_types")
        made.__repr__ = _text
        setattr(return_types, name, made)
    return getattr(return_types, name)


def _as_op(function, op, name, doc, signature):
    function.__name__ = function.__qualname__ = name
    function.__module__, function.schema = "thunder", op.schema
    function.__doc__, function.__signature__ = f"{op.__doc__}\n\n{doc}", signature
    return function


def _with_variant(op, row, variant):
    """The op with a last argument that asks for another op: max_pool2d_with_indices is max_pool2d's return_indices."""
    flag, count = row["variant_flag"], len(op.__signature__.parameters)

    def chosen(*args, **named):
        asked = named.pop(flag, False)
        if len(args) == count + 1:
            args, asked = args[:-1], args[-1]
        if not isinstance(asked, bool):
            raise TypeError(f"{row['name']}: argument '{flag}' must be bool, got {type(asked).__name__}")
        return tuple(variant(*args, **named)) if asked else op(*args, **named)
    added = inspect.Parameter(flag, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False, annotation="bool")
    signature = op.__signature__.replace(parameters=[*op.__signature__.parameters.values(), added])
    return _as_op(chosen, op, row["name"], f"{flag}=True: {variant.__doc__}", signature)


def _where(op, nonzero_numpy):
    def where(condition, input=None, other=None):
        if input is None and other is None:
            return tuple(nonzero_numpy(condition))
        return op(condition, input, other)
    doc = "where(condition): the places where it holds, a tensor for each dim, as indices have it."
    return _as_op(where, op, "where", doc, op.__signature__)


def _einsum(op):
    def einsum(equation, *operands):
        return op(equation, operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands)
    parameters = list(op.__signature__.parameters.values())
    parameters[1] = parameters[1].replace(kind=inspect.Parameter.VAR_POSITIONAL)
    signature = op.__signature__.replace(parameters=parameters)
    return _as_op(einsum, op, "einsum", "The operands may be a list, or arguments.", signature)


def _allclose(op):
    def allclose(*args, **named):
        made = op(*args, **named)
        return bool(made) if made.is_concrete else made
    return _as_op(allclose, op, "allclose", "A bool, where tensors have elements; a tensor in a compiled function.",
                  op.__signature__)


def integers(given):
    """Lists of integers as tensors; anything else as it is."""
    plain = isinstance(given, (list, tuple)) and all(type(n) is int and abs(n) < 2 ** 63 for n in given)
    return _thunder.share(numpy.asarray(given, numpy.int64)) if plain else given


def _ctc_loss(op):
    def ctc_loss(log_probs, targets, input_lengths, target_lengths, *args, **named):
        return op(log_probs, targets, integers(input_lengths), integers(target_lengths), *args, **named)
    return _as_op(ctc_loss, op, "ctc_loss", "The lengths may be lists of integers.", op.__signature__)


def adapt(rows, functions, methods):
    """Puts these forms in the place of the ops."""
    for row in rows:
        if "variant" in row:
            name = row["name"]
            functions[name] = methods[name] = _with_variant(functions[name], row, functions[row["variant"]])
    _signatures.adapt(functions, methods)
    _running.adapt(functions, methods)
    functions["where"] = _where(functions["where"], functions["nonzero_numpy"])
    functions["einsum"] = _einsum(functions["einsum"])
    functions["ctc_loss"] = methods["ctc_loss"] = _ctc_loss(functions["ctc_loss"])
    functions["allclose"] = methods["allclose"] = _allclose(functions["allclose"])
