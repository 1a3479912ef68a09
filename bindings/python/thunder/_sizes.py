"""Sizes that stand for any, as a traced function sees them: integers that keep their formula."""
from . import _thunder


class SymInt:
    """A size of a tensor in a function that is traced with a symbol for it: torch.SymInt.

    Arithmetic keeps the formula, and ops that take sizes take it. A comparison is decided by the size that was seen and checked
    at each call. int(), and whatever needs a number, makes the trace one for this size alone.
    """
    __slots__ = ("word",)

    def __init__(self, word):
        self.word = word

    def __index__(self):
        return _thunder.size_value(self)

    __int__ = __index__

    def __float__(self):
        return float(int(self))

    def __bool__(self):
        return _thunder.size_compare("!=", self, 0)

    def __hash__(self):
        return hash(int(self))

    def __repr__(self):
        return "SymInt"

    def __format__(self, how):
        return format(int(self), how) if how else repr(self)

    def __neg__(self):
        return 0 - self

    def __pos__(self):
        return self

    def __abs__(self):
        return abs(int(self))

    def __round__(self, digits=None):
        return self


def _is_size(value):
    return isinstance(value, (int, SymInt))


def _arithmetic(operation):
    def forward(self, other):
        return _thunder.size_make(operation, self, other) if _is_size(other) else NotImplemented

    def backward(self, other):
        return _thunder.size_make(operation, other, self) if _is_size(other) else NotImplemented
    return forward, backward


def _on_numbers(name):
    """What leaves the integers: of the number that was seen."""
    def forward(self, other):
        return getattr(int(self), name)(int(other) if isinstance(other, SymInt) else other)
    return forward


def _comparison(text):
    def compare(self, other):
        return _thunder.size_compare(text, self, other) if _is_size(other) else NotImplemented
    return compare


for _name, _operation in (("add", "+"), ("sub", "-"), ("mul", "*"), ("floordiv", "/"), ("mod", "%")):
    _forward, _backward = _arithmetic(_operation)
    setattr(SymInt, f"__{_name}__", _forward)
    setattr(SymInt, f"__r{_name}__", _backward)
for _name in ("truediv", "rtruediv", "pow", "rpow", "and", "or", "xor", "lshift", "rshift", "divmod", "rdivmod"):
    setattr(SymInt, f"__{_name}__", _on_numbers(f"__{_name}__"))
for _name, _text in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(SymInt, f"__{_name}__", _comparison(_text))
_thunder.set_size_type(SymInt)
