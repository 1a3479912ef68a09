"""The frames that run while a function is traced: the code of each, whoever called it, is looked at with its objects in hand, so that what
it reads of the host is guarded although no name leads to it."""
import functools
import gc
import types
import weakref

from . import _reads, _thunder
from ._libraries import is_library, is_library_class
from ._thunder import Tensor

_CACHED = type(functools.lru_cache(is_library_class))


def function_in(value):
    """The function of Python that a member of a class, or something that is called, stands for."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, (types.MethodType, classmethod, staticmethod)):
        value = value.__func__
    elif isinstance(value, (functools.partial, functools.partialmethod, functools.cached_property)):
        value = value.func
    elif isinstance(value, _CACHED):
        value = value.__wrapped__
    return value if isinstance(value, types.FunctionType) else None


class Frames:
    """Called with each frame that begins; True: those of its code need not be shown again."""

    def __init__(self, walk):
        self._walk, self._guarded = walk, len(walk.places)
        self._known = {}  # by id: a code and what it was looked at with
        self._strangers = {}  # by id: an object that no name led to: it may be one that the function makes

    def __call__(self, frame):
        code = frame.f_code
        if is_library(code.co_filename) or id(code) in self._walk.inner:
            return True
        reads = _reads.of_code(code)
        arguments = {chain.name for chain in reads.chains if chain.root == _reads.ARGUMENT}
        arguments |= set(code.co_varnames[:1]) if code.co_argcount else set()
        if not code.co_freevars and not arguments:
            self._read(code, frame.f_globals, {}, {})
            return True
        variables = frame.f_locals
        given = {name: variables[name] for name in arguments if _is_object(variables.get(name))}
        if not code.co_freevars and len(given) == 1 and self._walk.has_read(code, next(iter(given.values()))):
            return False
        key = (id(code), *map(id, given.values()), *(id(variables.get(name)) for name in code.co_freevars))
        if key in self._known:
            return False
        self._known[key] = code
        cells = self._cells(frame, code, variables, given) if code.co_freevars else {}
        for value in given.values():
            self._walk.in_classes(value, code)
        strangers = [name for name, value in given.items() if not isinstance(value, type) and not self._walk.knows(value)]
        for name in strangers:
            self._note(given.pop(name), name, code)
        self._read(code, frame.f_globals, cells, given)
        return False

    def _read(self, code, names, cells, given):
        self._walk.read(code, names, cells, given)
        self._guard()

    def _guard(self):
        self._walk.settle()
        _thunder.guard(self._walk.places[self._guarded:])
        self._guarded = len(self._walk.places)

    def _note(self, value, name, code):
        if type(value).__weakrefoffset__:
            _, codes = self._strangers.setdefault(id(value), (weakref.ref(value), {}))
            codes[id(code)] = code, name

    def end(self):
        """Guards what was read of objects that are still there: the function did not make them for itself."""
        for stranger, codes in self._strangers.values():
            value = stranger()
            for code, name in codes.values() if value is not None else ():
                self._walk.read(code, {}, {}, {name: value})
        self._guard()

    def _cells(self, frame, code, variables, given):
        for function in self._functions(frame, code, given):
            cells = dict(zip(code.co_freevars, function.__closure__ or ()))
            if all(_holds(cell, variables.get(name)) for name, cell in cells.items()):
                return cells
        return {}

    def _functions(self, frame, code, given):
        """Those that may be what runs in a frame: what its callers hold, what the classes of its arguments have, whatever is of its code."""
        caller = frame.f_back
        while caller is not None:
            yield from self._of_code(code, list(caller.f_locals.values()))
            if not is_library(caller.f_code.co_filename):
                break
            caller = caller.f_back
        for value in given.values():
            yield from self._of_code(code, [vars(base).get(code.co_name) for base in type(value).__mro__])
        yield from self._of_code(code, gc.get_referrers(code))

    @staticmethod
    def _of_code(code, values):
        for value in values:
            function = function_in(value)
            if function is not None and function.__code__ is code:
                yield function


def _is_object(value):
    """Whether attributes of it are what a function may read: a class of the user's, or an object of one."""
    if isinstance(value, type):
        return not is_library_class(value)
    return value is not None and not isinstance(value, (Tensor, types.ModuleType)) and not is_library_class(type(value))


def _holds(cell, value):
    try:
        return cell.cell_contents is value
    except ValueError:
        return value is None
