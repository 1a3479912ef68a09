"""What a trace keeps that no call checks: calls, while a function is traced, of what gives something else each time or does something
outside. Looked for where the option `sharp_edges` asks."""
import sys
import types
import warnings

from . import _thunder
from ._libraries import is_library

_OURS = __name__.partition(".")[0]
_ONCE = {"random", "_random", "time", "datetime", "posix", "nt", "io", "_io", "fcntl", "_socket"}  # modules of C functions
BUILTIN = {"print", "input", "open", "globals"}
_SETTINGS = {("sys", "getrecursionlimit"), ("sys", "getswitchinterval"), ("decimal", "getcontext")}  # of the process or the thread


_WRITING = {"print", "sleep", "write", "writelines", "flush", "close"}  # what is said by the option alone


def tell(what, where):
    text = f"{what} is called once, while the function is traced"
    if what.rpartition(".")[2].removesuffix("()") in _WRITING:
        return bool(_thunder.sharp_edge()) and _thunder.sharp_edge(text, where)
    if _thunder.sharp_edge(text, where) is None:
        file, _, line = where.rpartition(":")
        warnings.warn_explicit(f'sharp_edges: {text} [at {where}]; give it as an argument, or compile with sharp_edges="allow"', RuntimeWarning,
                               file, int(line))


def may_be_once(value, path):
    """Whether what `path` names of the value may give something else each time, so that calls are to be watched."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
        return bool(path) and (name in _READING and path[0] not in _CONSTANT or (name, path[0]) in _SETTINGS)
    module = value.__module__ if isinstance(value, (type, types.FunctionType)) else (
        _module_of(value) if isinstance(value, types.BuiltinFunctionType) else type(value).__module__)
    return module in _READING


_READING = _ONCE | {"os", "secrets", "uuid", "pathlib", "tempfile", "socket", "subprocess"}
_CONSTANT = {"path", "environ", "getenv", "sep", "linesep", "name", "fspath", "timedelta"}


def _module_of(builtin):
    owner = getattr(builtin, "__self__", None)
    return getattr(builtin, "__module__", None) or (owner if isinstance(owner, type) else type(owner)).__module__


def _profile(frame, event, builtin):
    if event != "c_call":
        return
    module, name = _module_of(builtin), builtin.__name__
    if name in _CONSTANT:
        return
    if module not in _ONCE and (module, name) not in _SETTINGS and not (module == "builtins" and name in BUILTIN):
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
