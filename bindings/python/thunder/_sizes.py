"""Symbolic sizes as a traced function sees them: integers that keep their formula."""
import functools
import operator

from . import _thunder


class SymInt:
    """A size of a tensor in a function that is traced with a symbol for it: torch.SymInt.

    Arithmetic keeps the formula, and ops that take sizes take it. A comparison is decided by the size that was seen and checked
    at each call. int(), and whatever needs a number, makes the trace one for this size alone.
    """
    __slots__ = ("word",)

    def __init__(self, word):
        self.word = word

    @property
    def __class__(self):
        return int  # so that isinstance(size, int) is true, as for a number

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

    def __str__(self):
        return str(int(self))  # a text specialises to the number

    def __format__(self, how):
        return format(int(self), how)

    def __neg__(self):
        return 0 - self

    def __pos__(self):
        return self

    def __abs__(self):
        return abs(int(self))

    def __round__(self, digits=None):
        return self if digits is None or digits >= 0 else round(int(self), digits)

    def __trunc__(self):
        return self

    __floor__ = __ceil__ = conjugate = __trunc__

    def __invert__(self):
        return -1 - self

    real = numerator = property(lambda self: self)
    imag = property(lambda self: 0)
    denominator = property(lambda self: 1)

    def is_integer(self):
        """Whether it is a whole number."""
        return True

    def as_integer_ratio(self):
        """A fraction's numerator and denominator."""
        return self, 1


class Size(tuple):
    """The sizes of a tensor's dims: a tuple, with numel()."""
    __slots__ = ()

    def numel(self):
        """How many elements a tensor of these sizes has."""
        return functools.reduce(operator.mul, self, 1)


def is_symbol(value):
    """Whether it is a symbolic size."""
    return type(value) is SymInt


def same_formula(a, b):
    """Whether two sizes are equal as expressions; adds no guard."""
    return is_symbol(a) is is_symbol(b) and (a.word == b.word if is_symbol(a) else a == b)


def _is_size(value):
    return isinstance(value, (int, SymInt))


def _of_numbers(function):
    """An operation whose result is no integer: computed on the number that was seen."""
    def forward(self, other):
        return function(int(self), other) if isinstance(other, (int, float, SymInt)) else NotImplemented

    def backward(self, other):
        return function(other, int(self)) if isinstance(other, (int, float)) else NotImplemented
    return forward, backward


def _arithmetic(operation, function):
    with_number, of_number = _of_numbers(function)

    def forward(self, other):
        return _thunder.size_make(operation, self, other) if _is_size(other) else with_number(self, other)

    def backward(self, other):
        return _thunder.size_make(operation, other, self) if _is_size(other) else of_number(self, other)
    return forward, backward


def _comparison(text, function):
    with_number, _ = _of_numbers(function)

    def compare(self, other):
        return _thunder.size_compare(text, self, other) if _is_size(other) else with_number(self, other)
    return compare


for _name, _operation in (("add", "+"), ("sub", "-"), ("mul", "*"), ("floordiv", "/"), ("mod", "%")):
    _forward, _backward = _arithmetic(_operation, getattr(operator, _name))
    setattr(SymInt, f"__{_name}__", _forward)
    setattr(SymInt, f"__r{_name}__", _backward)
for _name, _function in (("truediv", operator.truediv), ("pow", pow), ("divmod", divmod), ("and", operator.and_), ("or", operator.or_),
                         ("xor", operator.xor), ("lshift", operator.lshift), ("rshift", operator.rshift)):
    _forward, _backward = _of_numbers(_function)
    setattr(SymInt, f"__{_name}__", _forward)
    setattr(SymInt, f"__r{_name}__", _backward)
for _name, _text in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(SymInt, f"__{_name}__", _comparison(_text, getattr(operator, _name)))
_thunder.set_size_type(SymInt)
_thunder.set_shape_type(Size)
