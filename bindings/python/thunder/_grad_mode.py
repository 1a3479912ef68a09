"""Regions without gradients: th.no_grad and its kin."""
import functools

from . import _ops, _thunder, _tree
from ._thunder import Tensor


def detached(tree):
    """The tensors of a tree as ones that no gradient passes."""
    return _tree.tree_map(lambda leaf: _ops.functions["detach"](leaf) if isinstance(leaf, Tensor) else leaf, tree)


class _Region:
    """A `with` block, or a decorator, in which gradients are recorded or not."""

    def __init__(self):
        self._before = []

    def __new__(cls, function=None, *args):
        made = super().__new__(cls)
        if cls._enabled is None or not callable(function):
            return made
        made.__init__()
        return made(function)  # @no_grad, without parentheses

    def __enter__(self):
        self._before.append(_thunder._set_grad_enabled(self._enabled))
        return self

    def __exit__(self, *error):
        _thunder._set_grad_enabled(self._before.pop())

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **named):
            before = _thunder._set_grad_enabled(self._enabled)
            try:
                return function(*args, **named)
            finally:
                _thunder._set_grad_enabled(before)
        return inside


class no_grad(_Region):
    """with no_grad(): gradients do not pass what is computed in it. Also a decorator.

    Outside of a tape and of a compiled function nothing is recorded in any case, and it changes nothing. It is of the function that it
    stands in: a compiled function that is called in it records what it records.
    """
    _enabled = False


class enable_grad(_Region):
    """with enable_grad(): what is computed in it has gradients again, inside of no_grad(). Also a decorator."""
    _enabled = True


class set_grad_enabled(_Region):
    """no_grad() or enable_grad() by a mode: from now on, or in a `with` block. Also a decorator."""
    _enabled = None

    def __init__(self, mode):
        super().__init__()
        self._enabled = bool(mode)
        self._before.append(_thunder._set_grad_enabled(self._enabled))
        self._entered = True

    def __enter__(self):
        if self._entered:
            self._entered = False  # it began when it was made
            return self
        return super().__enter__()

    def __call__(self, function):
        self.__exit__()
        self._entered = False
        return super().__call__(function)


class inference_mode(_Region):
    """no_grad() by another name: tensors keep no history here that could be saved. inference_mode(False) changes nothing."""
    _enabled = False

    def __init__(self, mode=True):
        super().__init__()
        self._enabled = not mode and _thunder.is_grad_enabled()


def is_inference_mode_enabled():
    """Whether a region of inference_mode(), or of no_grad(), is at hand."""
    return not _thunder.is_grad_enabled()
