"""Errors of torch.compile and thunder.compile for functions that the other has compiled, with what to write instead. Imports no torch."""
import sys

_WRAPPED, _COMPILED = "_torchdynamo_orig_callable", "_compiled_call_impl"  # set by torch.compile on what it makes, by Module.compile() in place
_REVERSE = ("torch.compile: thunder.compile has compiled this already: give torch.compile what that was given, or leave torch.compile out "
            "(around a call of this inside of a compiled function Dynamo breaks the graph)")


def check(function):
    """Raises if thunder.compile is given what torch.compile made."""
    if not isinstance(getattr(type(function), _WRAPPED, None), property) and hasattr(function, _WRAPPED):
        raise TypeError("compile: torch.compile has compiled this already: give thunder.compile what that was given, or say "
                        'torch.compile(model, backend="thunder")')
    if getattr(function, _COMPILED, None) is not None:
        raise TypeError(f"compile: {type(function).__name__}.compile() has compiled this module in place already: leave that out, or say "
                        'module.compile(backend="thunder")')


def refuse(*_, **named):
    raise TypeError(_REVERSE)


def _asked(self):
    """torch.compile reads this attribute of everything it is given; so does torch.compiler.disable, which gets the attribute."""
    frame = sys._getframe(1)
    while frame is not None and "torch" in frame.f_globals.get("__name__", ""):
        if type(frame.f_locals.get("self")).__name__ == "OptimizeContext":
            refuse()
        frame = frame.f_back
    raise AttributeError(_WRAPPED)


MARK = {_WRAPPED: property(_asked)}  # of a class whose objects torch.compile refuses
