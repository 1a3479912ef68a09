"""Where numpy alone reads arrays while a function is traced. An array tells nobody of its readers, so each statement that runs is asked how
often it names one, and how often tensors were made of it meanwhile: the rest is numpy's."""
import dis
import functools
import inspect
import sys
import typing

import numpy

from ._libraries import is_library

_LOADS = {"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_GLOBAL",
          "LOAD_NAME"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_PAIRS = {"LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"}
_SKIPPED = {"CACHE", "NOP", "EXTENDED_ARG", "PUSH_NULL", "PRECALL", "NOT_TAKEN"}
_ABOUT = {"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides", "flags"}  # what is no element


class _Statement(typing.NamedTuple):
    loads: list  # (name, (attributes and keys behind it))
    stores: list  # names


def _lines(code):
    """{line: the first line of its statement}, which spans what one instruction spans."""
    first = {}
    for step in dis.get_instructions(code):
        place = getattr(step, "positions", None)
        if place is not None and place.lineno and place.end_lineno:
            for line in range(place.lineno, place.end_lineno + 1):
                first[line] = min(first.get(line, line), place.lineno)
    for line in sorted(first):
        first[line] = min(first[line], first.get(first[line], line))
    return first


@functools.lru_cache(maxsize=1024)
def _statements(code):
    """{first line: its loads and stores}, and the lines of statements."""
    first, found, line = _lines(code), {}, code.co_firstlineno
    starts = {offset: number for offset, number in dis.findlinestarts(code) if number}
    steps = [step for step in dis.get_instructions(code) if step.opname not in _SKIPPED or step.offset in starts]
    for at, step in enumerate(steps):
        line = starts.get(step.offset, line)
        loads, stores = found.setdefault(first.get(line, line), _Statement([], []))
        if step.opname in _PAIRS:
            loads.extend((name, ()) for name in step.argval)
        elif step.opname in _LOADS:
            loads.append((step.argval, tuple(_path(steps, at + 1))))
        elif step.opname.startswith("STORE_") and isinstance(step.argval, str):
            stores.append(step.argval)
    return found, first


def _path(steps, at):
    while at < len(steps):
        if steps[at].opname in _ATTRIBUTES:
            yield "." + steps[at].argval
            at += 1
        elif steps[at].opname == "LOAD_CONST" and at + 1 < len(steps) and steps[at + 1].opname == "BINARY_SUBSCR":
            yield [steps[at].argval]
            at += 2
        else:
            return


def _reached(value, path):
    """The array that a name leads to, unless only something about it is read."""
    for key in path:
        if isinstance(value, numpy.ndarray):
            return None if key[0] == "." and key[1:] in _ABOUT else value
        if isinstance(key, str):
            value = getattr(value, "__dict__", {}).get(key[1:])
        else:
            try:
                value = value[key[0]] if type(value) in (dict, list, tuple) else None
            except (LookupError, TypeError):
                return None
    return value if isinstance(value, numpy.ndarray) else None


class _Frame:
    """The statement that a frame runs, and `owed`: how often it names each array more than it was seen to give it away."""

    def __init__(self):
        self.line = self.offset = None
        self.owed = {}


class Watch:
    """`owner_of(value)`: a key for the memory of an array that is watched, or None. While entered, `found` becomes {key: "file:line"} of the
    first statement in which numpy reads each."""

    def __init__(self, owner_of):
        self._owner_of, self.found, self._frames = owner_of, {}, {}

    def __enter__(self):
        self._watches = sys.gettrace() is None  # a debugger's stays
        if self._watches:
            sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        if self._watches:
            sys.settrace(None)
        self._frames.clear()

    def take(self, value, frame=None, count=-1):
        """The statement that runs in the innermost frame that is watched, from this one outward, gave an array away: to a tensor, or to a
        function; or count=1: it was given one."""
        key = self._owner_of(value)
        frame = frame or (sys._getframe(1) if key is not None and self._frames else None)
        while key is not None and frame is not None:
            if frame in self._frames:
                owed = self._frames[frame].owed
                owed[key] = owed.get(key, 0) + count
                return
            frame = frame.f_back

    def _call(self, frame, event, _):
        code = frame.f_code
        if event != "call" or is_library(code.co_filename):
            return None
        if frame not in self._frames:  # nor a generator, which goes on
            for name in inspect.getargs(code).args:  # what it was given is read there
                self.take(frame.f_locals.get(name), frame.f_back)
            self._frames[frame] = _Frame()
        return self._line

    def _line(self, frame, event, result):
        running = self._frames[frame]
        statements, first = _statements(frame.f_code)
        if event == "line":
            line = first.get(frame.f_lineno, frame.f_lineno)
            if line != running.line or frame.f_lasti <= running.offset:
                self._settle(frame, running, statements)
                self._begin(frame, running, statements.get(line), line)
            running.offset = frame.f_lasti
        elif event == "return":
            self.take(result, frame)
            self._settle(frame, running, statements)
            if not frame.f_code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
                del self._frames[frame]
            self.take(result, frame.f_back, 1)
        return self._line

    def _begin(self, frame, running, statement, line):
        running.line, running.owed = line, {}
        for name, path in statement.loads if statement else ():
            value = frame.f_locals[name] if name in frame.f_locals else frame.f_globals.get(name)
            key = self._owner_of(_reached(value, path))
            if key is not None:
                running.owed[key] = running.owed.get(key, 0) + 1

    def _settle(self, frame, running, statements):
        if not running.owed:
            return
        for name in statements[running.line].stores if running.line in statements else ():
            key = self._owner_of(frame.f_locals.get(name))
            if key in running.owed:
                running.owed[key] -= 1  # another name of it
        for key, owed in running.owed.items():
            if owed > 0:
                self.found.setdefault(key, f"{frame.f_code.co_filename}:{running.line}")
        running.owed = {}
