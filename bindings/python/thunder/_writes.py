"""What a compiled function writes into things of the host: into attributes, items, lists and captured variables. What it assigns there
while it is traced are tensors without data; so these things get back what they had, the tensors become results of the program that
nobody sees, and each call assigns what came."""
import collections
import contextlib
import functools
import gc
import sys
import threading
import types
import typing
import weakref

from . import _arrays, _edges, _thunder, _tree
from ._frames import Frames
from ._host import ARRAY, GRAD, Walk
from ._ops import functions as _op
from ._thunder import ModuleBase, Tensor
from ._traceback import covered

_MISSING = object()
_OWN = 3  # references to a tensor that a holder alone has, where they are counted
_made = weakref.WeakValueDictionary()  # id -> a tensor that a call assigned, which nobody else made


class Write(typing.NamedTuple):
    """`how`: "item" of a dict or a list, "cell" or "extend" of a list, "delete" of a dict; "check": key(leaf) is called of
    the leaves of the arguments at `holder`. `holder`: what is written, or where it is among the arguments: a tuple of keys."""
    how: str
    holder: object
    key: object
    label: str

    def __eq__(self, other):
        same = self.holder == other.holder if isinstance(self.holder, tuple) else self.holder is other.holder
        return same and (self.how, self.key) == (other.how, other.key)


class _Active(threading.local):
    walk = root = arguments = None


_active = _Active()


def holds(holder, label):
    """Where a function is traced: notes what a thing of the host holds, before it is written. Whether that is new."""
    return _active.walk is not None and _active.root == _thunder.root() and _active.walk.hold(holder, label)


def check_arguments(check, matters):
    """Where a function is traced: check(x) of each tensor among the arguments of which matters(those that are traced) says that it is to be
    made comes before what a call writes."""
    if _active.walk is None or _active.root != _thunder.root():
        return
    leaves = {at: leaf for at, leaf in enumerate(_tree.tree_leaves(_active.arguments)) if isinstance(leaf, Tensor)}
    places = tuple(at for at, matter in zip(leaves, matters(list(leaves.values()))) if matter)
    if places:
        _active.walk.checks[check, places] = None


def _is_traced(value, depth=0):
    """Whether it is, or holds, a tensor without data, or one that is made of the host's at each call."""
    if isinstance(value, Tensor):
        return not value.is_concrete or _arrays.is_made(value)
    if depth < 4 and isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return any(_is_traced(item, depth + 1) for item in value)
    return depth < 4 and isinstance(value, dict) and any(_is_traced(item, depth + 1) for item in value.values())


def _refuse(label, what):
    raise TypeError(f"{label} {what} by a compiled function in a way that its program cannot repeat at each call: return the tensors, or "
                    "append to a list and assign items, attributes or captured variables, which is repeated")


def _of_list(now, before, holder, label, written):
    """The writes that make a list what it is now."""
    if len(now) < len(before):
        _refuse(label, "is shortened")
    for at, (value, old) in enumerate(zip(now, before)):
        if value is not old and written(at, value):
            yield Write("item", holder, at, label), value
    if len(now) > len(before):
        yield Write("extend", holder, None, label), now[len(before):]


def _of_dict(now, before, holder, label, written):
    for key, value in list(now.items()):
        if before.get(key, _MISSING) is not value and written(key, value):
            yield Write("item", holder, key, label), value


def _of_holder(holder, before, label):
    """What of a thing of the host became tensors without data; which it then no longer holds."""
    if isinstance(holder, types.CellType):
        if holder.cell_contents is not before and _is_traced(holder.cell_contents):
            yield Write("cell", holder, None, label), holder.cell_contents
            holder.cell_contents = before
    elif isinstance(holder, (dict, ModuleBase)):
        now, own = (holder, ()) if isinstance(holder, dict) else (vars(holder), holder._own_names())
        for write, value in _of_dict(now, before, holder, label, lambda key, value: key in own or _is_traced(value)):
            if write.key in before:
                now[write.key] = before[write.key]
            else:
                del now[write.key]
            yield write, value
        if GRAD in before and GRAD not in now:  # taken away at each call
            now[GRAD] = before[GRAD]
            yield Write("delete", holder, GRAD, label), None
    elif isinstance(holder, list) and any(map(_is_traced, holder)):
        now, holder[:] = list(holder), before
        yield from _of_list(now, before, holder, label, lambda at, value: _is_traced(value))
    elif isinstance(holder, (set, collections.deque)) and any(map(_is_traced, holder)):
        holder.clear()
        (holder.extend if isinstance(holder, collections.deque) else holder.update)(before)
        _refuse(label, "is given tensors")


def _containers(value, path):
    """(container, its copy, path) of the lists and dicts among the arguments, which are the call's own."""
    if type(value) in (list, dict):
        yield value, value.copy(), path
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        for at, item in enumerate(value):
            yield from _containers(item, (*path, at))
    elif type(value) is dict:
        for key, item in value.items():
            yield from _containers(item, (*path, key))


def _of_argument(container, before, path):
    label = "argument " + "".join(f"[{key!r}]" for key in path)
    if isinstance(container, dict):
        yield from _of_dict(container, before, path, label, lambda key, value: True)
        for key in before.keys() - container.keys():
            yield Write("delete", path, key, label), None
    else:
        yield from _of_list(container, before, path, label, lambda at, value: True)


def run(function, args, named):
    """function(*args, **named) where it is traced: finds what it depends on before, and what it wrote after."""
    root = _thunder.root()
    outer = _active.walk if _active.root == root else None  # this is a part of the function that is traced
    walk = outer or Walk()
    known = len(walk.places)
    walk.of(function, (*args, *(named or {}).values()))
    _thunder.guard(walk.places[known:])
    if outer is not None:
        return function(*args, **(named or {}))
    if walk.asks_types:
        args, named = _thunder.plain_arguments()
    given = list(_containers(args, ())) + list(_containers(named or {}, ()))
    before, done = (_active.walk, _active.root, _active.arguments), False
    _active.walk, _active.root, _active.arguments = walk, root, (args, named or {})
    with _arrays.Reading(walk.arrays) as arrays:
        try:
            watched = functools.partial(_thunder.watched_call, frames := Frames(walk), function)
            with arrays.watch if walk.arrays else contextlib.nullcontext():
                result = _edges.watched(watched, (args, named or {}), {}) if walk.watches_calls else watched(args, named or {})
            done = True
        finally:
            _active.walk, _active.root, _active.arguments = before
            _thunder.plain_sizes(False)
            written = [write for holder in list(walk.holders.values()) for write in _taken_back(holder, done)]
        for container, before, path in given:
            written += _of_argument(container, before, path)
        written[:0] = [(Write("check", places, check, ""), None) for check, places in walk.checks]
        if arrays.survive([leaf for value in (result, [one for _, one in written]) for leaf in _tree.tree_leaves(value)]):
            gc.collect()
    frames.end()
    arrays.check()
    _thunder.guard([(ARRAY, array, None, False, f"elements of {label}") for array, label in arrays.places()])
    if written:
        _thunder.note_writes([write for write, _ in written], [value for _, value in written])
    return result


def _taken_back(holder, done):
    try:
        return list(_of_holder(*holder))
    except TypeError:
        if done:
            raise
        return []  # the function failed: its own error is the one to see


# ---- at each call ----

def perform(writes, result, args, named):
    """The result of a call without what it is to write, which is written."""
    if not (type(result) is tuple and len(result) == 2 and type(result[1]) is _tree.Made):
        return result
    result, made = result
    for write, value in zip(writes[made.number], made.values):
        holder = write.holder
        if write.how == "check":
            leaves = _tree.tree_leaves((args, named or {}))
            for at in holder:
                write.key(leaves[at])
            continue
        if isinstance(holder, tuple):
            holder = args if not holder or isinstance(holder[0], int) else named
            for key in write.holder:
                holder = holder[key]
        _WAYS[write.how](holder, write.key, value)
    return result


def _stored(old, value):
    """The tensor to keep for `value`: the one that is there, with other elements, if it was made here and nobody else has it or its memory, so
    that programs which read it stay what they are."""
    if not isinstance(value, Tensor):
        return value
    fits = isinstance(old, Tensor) and _made.get(id(old)) is old and not _thunder.is_recording() and (
        old.shape, old.dtype, old.device) == (value.shape, value.dtype, value.device)
    if fits and sys.getrefcount(old) - _thunder.held(old) <= _OWN and not old._shares_memory():
        _op["copy_"](old, value)
        return old
    _made[id(value)] = value
    return value


def _set_item(holder, key, value):
    if isinstance(holder, ModuleBase):
        if _stored(getattr(holder, key, None), value) is value:
            setattr(holder, key, value)
    elif isinstance(holder, list):
        holder[key] = value
    else:
        holder[key] = _stored(holder.get(key), value)


def _set_cell(cell, _, value):
    cell.cell_contents = _stored(cell.cell_contents, value)


def _delete(holder, key, _):
    holder.pop(key, None)


_WAYS = {"item": _set_item, "cell": _set_cell, "extend": lambda holder, _, values: holder.extend(values), "delete": _delete}
_thunder.set_walk(covered(run))
_thunder.set_perform(covered(perform))
