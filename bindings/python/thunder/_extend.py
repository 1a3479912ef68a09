"""Ops and rewrite rules of the user's own: once added, equals of the library's, for as long as the process."""
from . import _ops, _schema, _thunder

_INPLACE, _ELEMENTWISE = 1, 2


class Context:
    """What a gradient is told of the call: args, results, and which of the arguments want a gradient."""

    def __init__(self, args, results, needs_input_grad):
        self.args, self.results, self.needs_input_grad = args, results, needs_input_grad


def op(schema, *, vjp=None, doc="", inplace=False, elementwise=False):
    """A decorator: the function, of tensors and constants as the schema has them, becomes an op.

        @th.op("square_plus(tensor x, float c=1.0) -> tensor")
        def square_plus(x, c):
            return x * x + c

    It is traced: types, gradient and what runs follow from it. vjp(ctx, *cotangents) gives a gradient for each argument, None
    for none: a tuple, or the one of a single argument. inplace adds the form NAME_, elementwise lets a result take the memory
    of an input. The name may have a part in front, such as "mine.square_plus".
    """
    def register(function):
        def gradient(args, results, cotangents, needs):
            return vjp(Context(args, results, needs), *cotangents)

        text = doc or (function.__doc__ or "").strip().partition("\n")[0] or function.__name__
        _thunder.add_op(schema, text, function, gradient if vjp else None, inplace * _INPLACE + elementwise * _ELEMENTWISE)
        name = schema.partition("(")[0].strip()
        row = next(row for row in _schema.describe("ops") if row["name"] == name)
        made, _ = _ops._make(row, name)
        return made

    if not isinstance(schema, str):
        raise TypeError(f"op: a schema such as 'name(tensor x) -> tensor' was expected, not {type(schema).__name__}")
    return register


def add_rules(name, rules, *, before=None, after=None):
    """Adds a pass of rewrite rules to every compile from now on.

        th.add_rules("faster", ["div(a, sqrt(b)) -> mul(a, rsqrt(b)) if b.dtype == f32"], after="grad")

    The name is what compile(disable_passes=...) takes.
    """
    _thunder.add_rules(name, [rules] if isinstance(rules, str) else list(rules), before, after)
