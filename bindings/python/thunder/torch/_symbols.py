"""Sizes that stand for any: torch's symbols as sizes of the arguments, which are symbols of ours."""
import contextlib
import functools
import operator

import sympy
import torch
from torch.utils._sympy import functions

from .. import _sizes, _thunder
from ._rows import op

_FLOOR = (functions.FloorDiv, functions.CleanDiv)
_REST = (functions.Mod, functions.PythonMod)
_POWER = (sympy.Pow, functions.PowByNatural)
_ONE_OF = ((functions.Max, max), (functions.Min, min), (sympy.Max, max), (sympy.Min, min))
_CHOICES = tuple(kind for kind, _ in _ONE_OF)


def expression(size):
    """A size as sympy has it."""
    return sympy.Integer(size) if isinstance(size, int) else size.node.expr


def _parts(expr):
    """(operator of Python, what it is in a formula, its operands)"""
    kinds = ((sympy.Add, operator.add, "+"), (sympy.Mul, operator.mul, "*"), (_FLOOR, operator.floordiv, "/"), (_REST, operator.mod, "%"))
    for kind, function, sign in kinds:
        if isinstance(expr, kind):
            return function, sign, expr.args
    if isinstance(expr, _POWER) and expr.args[1].is_Integer and expr.args[1] > 0:
        return operator.mul, "*", (expr.args[0],) * int(expr.args[1])
    for kind, function in _ONE_OF:
        if isinstance(expr, kind):
            return function, None, expr.args
    raise NotImplementedError(f"the size {expr} is no sum, product, quotient, remainder, maximum or minimum of sizes")


def value_of(expr, of):
    """The value of an expression, where of(part) is that of a symbol, or of another part that is known; else None. What our symbols have no
    formula for, such as a half of a size that is cut to an integer, is computed of the numbers, which specialises."""
    if expr.is_Integer:
        return int(expr)
    known = of(expr)
    if known is not None:
        return known
    try:
        function, _, operands = _parts(expr)
        return functools.reduce(function, [value_of(one, of) for one in operands])
    except NotImplementedError:
        return _of_numbers(expr, of)


def _of_numbers(expr, of):
    known = {part: of(part) for part in {*expr.atoms(*_CHOICES), *expr.free_symbols}}
    made = expr.xreplace({part: sympy.Integer(int(value)) for part, value in known.items() if value is not None})
    if not made.is_Integer:
        raise NotImplementedError(f"the size {expr} depends on values of tensors")
    return int(made)


class Real:
    """A number that is computed of sizes, torch's SymFloat: a tensor for any of them; as a float it is of these sizes alone."""

    def __init__(self, target, operands):
        self.target, self.operands = target, operands

    def __float__(self):
        return float(self.target(*[float(one) if isinstance(one, Real) else one for one in self.operands]))

    def tensor(self):
        """Without dims, in double precision; None: no op of ours is what makes it."""
        if self.target not in _REALS:
            return None
        operands = [one.tensor() if isinstance(one, Real) else _number(one) for one in self.operands]
        return None if any(one is None for one in operands) else _REALS[self.target](*operands)


def _number(value):
    return op["full"]([], value, _thunder.float64) if _sizes.is_symbol(value) else float(value)


_REALS = {torch.sym_float: lambda value: value, operator.truediv: op["div"], operator.mul: op["mul"], operator.add: op["add"],
          operator.sub: lambda a, b: op["rsub"](b, a) if isinstance(a, float) else op["sub"](a, b)}


class Sizes:
    """What the symbols among a graph's inputs are: sizes of tensors, and integers that no size is. `frozen`: numbers of inputs that the
    program has as constants."""

    def __init__(self, inputs, frozen=()):
        self.fakes = [node.meta.get("val") for node in inputs]
        self.bases = {}  # symbol: (which input, dim); an integer has no dim
        self.chosen = {}  # minimum or maximum that is a size of an input: (which input, dim), since it is a symbol of ours
        for dense in (True, False):
            for at, fake in enumerate(self.fakes):
                if isinstance(fake, torch.Tensor) and fake.is_contiguous() == dense:
                    for dim, size in enumerate(fake.shape):
                        self._add(size, at, dim)
        for at, fake in enumerate(self.fakes):
            self._add(fake, at, None)
        # Integers that sizes and other integers give; the program has no such argument.
        self.given = {at: expression(fake) for at, fake in enumerate(self.fakes)
                      if isinstance(fake, torch.SymInt) and expression(fake).free_symbols <= set(self.bases)
                      and self.bases.get(expression(fake)) != (at, None)}
        self.taken = [at for at in range(len(self.fakes)) if at not in self.given and at not in frozen]

    def _add(self, size, at, dim):
        if isinstance(size, torch.SymInt) and expression(size).is_Symbol:
            self.bases.setdefault(expression(size), (at, dim))
        elif isinstance(size, torch.SymInt) and isinstance(expression(size), _CHOICES) and dim is not None:
            self.chosen.setdefault(expression(size), (at, dim))

    def count(self, expr, arguments):
        """An expression for the arguments of a call, or for proxies of them."""
        def of(part):
            at, dim = self.bases.get(part) or self.chosen.get(part) or (None, None)
            return None if at is None else arguments[at] if dim is None else arguments[at].shape[dim]
        return value_of(expr, of)

    def text(self):
        """The option dynamic_shapes; "": no size varies."""
        names = {symbol: f"s{number}" for number, symbol in enumerate(self.bases)}

        others = {}  # formulas of symbols that no argument has by themselves

        def formula(expr):
            if expr.is_Integer:
                return "*"
            if expr.free_symbols <= set(names):
                with contextlib.suppress(NotImplementedError):
                    return self._formula(expr, names)
            return others.setdefault(expr, f"s{len(names) + len(others)}")
        said = []
        for place, at in enumerate(self.taken):
            fake = self.fakes[at]
            sizes = [formula(expression(size)) for size in fake.shape] if isinstance(fake, torch.Tensor) else []
            if isinstance(fake, torch.Tensor) and fake.dtype.is_complex:
                sizes.append("*")  # a number and the imaginary one
            if isinstance(fake, torch.SymInt) and expression(fake).is_Symbol:
                sizes = [names[expression(fake)]]
            if any(size != "*" for size in sizes):
                said.append(f"{place}:{','.join(sizes)}")
        return ";".join(said)

    def _formula(self, expr, names):
        if expr.is_Integer:
            return str(int(expr))
        if expr.is_Symbol:
            return names[expr]
        _, sign, operands = _parts(expr)
        if sign is None:
            raise NotImplementedError(f"the size {expr} has no formula")
        return functools.reduce(lambda a, b: f"({a}{sign}{b})", [self._formula(one, names) for one in operands])
