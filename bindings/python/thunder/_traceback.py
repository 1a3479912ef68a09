"""Errors end in the user's line: they leave what users call without the lines of this package, as jax filters its own.

THUNDER_TRACEBACK=full in the environment keeps them.
"""
import functools
import os
import types

from . import _thunder

_thunder.keep_own_lines(os.environ.get("THUNDER_TRACEBACK") == "full")


@functools.cache
def covered(member):
    """A function, or a member of a class, whose errors come out without our lines; anything else as it is."""
    if isinstance(member, types.FunctionType):
        return functools.update_wrapper(_thunder.api_boundary(member), member)
    if isinstance(member, property):
        return property(covered(member.fget), covered(member.fset), doc=member.__doc__)
    if isinstance(member, staticmethod):
        return staticmethod(covered(member.__func__))
    return member


def _cover_class(cls):
    """Every method of it, in place; private ones are called by those."""
    for name, member in list(vars(cls).items()):
        if (not name.startswith("_") or name.endswith("__")) and name != "__class__":  # which is what it is said to be
            if isinstance(member, (types.FunctionType, property, staticmethod)):
                setattr(cls, name, covered(member))


def cover(*namespaces):
    """The package's functions and classes in the namespaces of its public modules."""
    package = __name__.partition(".")[0]
    for namespace in namespaces:
        for name, value in list(namespace.items()):
            ours = str(getattr(value, "__module__", "")).partition(".")[0] == package
            if isinstance(value, types.FunctionType) and ours and (not name.startswith("_") or name == "__getattr__"):
                namespace[name] = covered(value)
            elif isinstance(value, type) and ours and not issubclass(value, tuple):
                _cover_class(value)
