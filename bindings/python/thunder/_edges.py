"""What a trace keeps that no call checks: calls, while a function is traced, of what gives something else each time or does something
outside. Looked for where the option `sharp_edges` asks."""
import sys

from . import _thunder
from ._libraries import is_library

_OURS = __name__.partition(".")[0]
_ONCE = {"random", "_random", "time", "datetime", "posix", "nt", "io", "_io", "fcntl", "_socket"}  # modules of C functions
_BUILTIN = {"print", "input", "open"}


def tell(what, where):
    _thunder.sharp_edge(f"{what} is called once, while the function is traced", where)


def _module_of(builtin):
    owner = getattr(builtin, "__self__", None)
    return getattr(builtin, "__module__", None) or (owner if isinstance(owner, type) else type(owner)).__module__


def _profile(frame, event, builtin):
    if event != "c_call":
        return
    module, name = _module_of(builtin), builtin.__name__
    if module not in _ONCE and not (module == "builtins" and name in _BUILTIN):
        return
    called = name if module in ("builtins", "io") else f"{module.lstrip('_')}.{name}"
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_globals.get("__name__", "").partition(".")[0] == _OURS:
            return  # ours: it is meant
        called = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"
        frame = frame.f_back
    if frame is not None:
        tell(f"{called}()", f"{frame.f_code.co_filename}:{frame.f_lineno}")


def watched(function, args, named):
    """function(*args, **named), each such call told."""
    before = sys.getprofile()
    sys.setprofile(_profile)
    try:
        return function(*args, **named)
    finally:
        sys.setprofile(before)


def draws_of_numpy(value, path):
    """The name of a function of numpy's that draws numbers, if that is what `path` names of the value: a profiler does not see these."""
    for name in path:
        value = getattr(value, name, None)
        owner = type(getattr(value, "__self__", None))
        if owner.__module__.startswith("numpy.random"):
            return f"numpy.random.{name}" if owner.__name__ == "RandomState" else f"{owner.__name__}.{name}"
    return None
