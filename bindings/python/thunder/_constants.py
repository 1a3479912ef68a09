"""Arguments that are neither tensors, numbers nor containers of them: functions, objects, ranges, slices, sets. Of a function or an object
a call is guarded by which one it is, of a range, a slice or a set by what it holds; what the function reads of an object, and what a
function that was given reads, is guarded as all else that it reads (_host.py)."""
import functools
import itertools
import types
import weakref


_PREFIX = "constant "
_PLAIN = (int, float, complex, str, bytes, type(None))
_numbers = itertools.count(1)
_by_number = {}  # number -> what gives the value, or None where it is gone
_by_id = {}      # id -> (the same, number)
_by_value = {}   # (type, value) -> number


def _forget(address):
    def forgotten(_):
        _, number = _by_id.pop(address, (None, None))
        _by_number.pop(number, None)
    return forgotten


def _identity(value):
    """The number of this one object, as long as it is there."""
    found = _by_id.get(id(value))
    if found is None or found[0]() is not value:
        if type(value).__weakrefoffset__:
            lent = weakref.ref(value, _forget(id(value)))
        elif callable(value):
            lent = functools.partial(_itself, value)  # of the language or of a library: it stays in any case
        else:
            raise TypeError(f"{type(value).__name__} cannot be an argument or a result of a function of tensors: it takes tensors, arrays, numbers, "
                            "strings, None, modules, functions, objects of classes of yours, ranges, slices, sets of plain values, and lists, tuples, "
                            "dicts, named tuples and dataclasses of them")
        found = _by_id[id(value)] = lent, str(next(_numbers))
        _by_number[found[1]] = lent
    return found[1]


def _itself(value):
    return value


def _is_plain(value):
    return isinstance(value, _PLAIN) or type(value) in (tuple, frozenset) and all(map(_is_plain, value))


def _equality(value, made):
    """The number of all values that are equal to this one and of its type; `made`: what gives one."""
    key = type(value), frozenset(map(_typed, value)) if isinstance(value, (set, frozenset)) else _typed(value)
    if key not in _by_value:
        number = _by_value[key] = str(next(_numbers))
        _by_number[number] = made
    return _by_value[key]


def _typed(value):
    return type(value), value, str(value)  # 1, 1.0 and True are equal, and 0.0 and -0.0


def parts(value):
    """(tag, children) of such a value."""
    if isinstance(value, (range, slice)):
        return _PREFIX + type(value).__name__, {"a": value.start, "b": value.stop, "c": value.step}
    if isinstance(value, types.MethodType):
        return _PREFIX + "method", {"function": value.__func__, "of": value.__self__}
    if type(value) is functools.partial:
        return _PREFIX + "partial", {"function": value.func, "args": value.args, "named": value.keywords}
    if isinstance(value, types.GeneratorType):
        return _PREFIX + "iterator", {"items": list(value)}
    if isinstance(value, (set, frozenset)):
        if not all(map(_is_plain, value)):
            raise TypeError(f"a {type(value).__name__} that is an argument or a result holds numbers, strings and tuples of them; tensors are "
                            "given in a list or a dict")
        return _PREFIX + "value", {"number": _equality(value, functools.partial(type(value), frozenset(value)))}
    if isinstance(value, (complex, bytes, int, float)):  # of a class of the user's, where it is an int or a float
        return _PREFIX + "value", {"number": _equality(value, functools.partial(_itself, value))}
    return _PREFIX + "object", {"number": _identity(value)}


def is_tag(tag):
    return tag.startswith(_PREFIX)


def value_of(tag, children):
    kind = tag.removeprefix(_PREFIX)
    if kind in ("range", "slice"):
        return (range if kind == "range" else slice)(children["a"], children["b"], children["c"])
    if kind == "method":
        return types.MethodType(children["function"], children["of"])
    if kind == "partial":
        return functools.partial(children["function"], *children["args"], **children["named"])
    if kind == "iterator":
        return iter(children["items"])
    found = _by_number.get(children["number"])
    if found is None:
        raise TypeError("this is an object of the program that saved it; here no such value has been an argument yet")
    return found()
