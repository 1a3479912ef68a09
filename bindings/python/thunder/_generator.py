"""Generators: states of random numbers beside the library's own, for the ops that take one as PyTorch's do."""
import functools
import os

from . import _create, _ops, _thunder
from ._thunder import Tensor

_op = _ops.functions
_FIRST = 67280421310721  # of a generator that nobody gave a seed, as PyTorch has it


class Generator:
    """Its numbers depend on its seed and on what it drew alone: th.rand(3, generator=th.Generator().manual_seed(1))."""

    def __init__(self, device="cpu"):
        self.device = _thunder.device(device)
        self._state = _create.tensor([_FIRST, 0])

    def manual_seed(self, seed):
        """What it draws from now on is that of this seed; the generator itself."""
        self._state.copy_(_create.tensor([seed, 0]))
        return self

    def seed(self):
        """Another seed, which nobody knows before; it is given."""
        self.manual_seed(int.from_bytes(os.urandom(6), "little"))
        return self.initial_seed()

    def initial_seed(self):
        return int(self._state[0])

    def get_state(self):
        """The seed, and how often it drew, as a tensor for set_state()."""
        return _op["clone"](self._state)

    def set_state(self, state):
        self._state.copy_(state)
        return self

    def __repr__(self):
        return f"<thunder.Generator: seed {self.initial_seed()}, {int(self._state[1])} draws>"


def get_rng_state():
    """The seed, and how often was drawn, as a tensor for set_rng_state()."""
    return _op["clone"](_thunder.random_state())


def set_rng_state(new_state):
    """What is drawn from now on is what was drawn after get_rng_state() gave this."""
    _thunder.random_state().copy_(new_state)


def drawing(op, name):
    """The op with generator=, in whose place the library's own state stands for as long as it draws."""
    @functools.wraps(op)
    def drawn(*args, generator=None, **named):
        if generator is None:
            return op(*args, **named)
        if not isinstance(generator, Generator):
            raise TypeError(f"{name}: generator must be a thunder.Generator, not {type(generator).__name__}")
        if _thunder.is_tracing():
            raise NotImplementedError(f"{name}: a compiled function draws by the one state that thunder.seed() sets: generator= is for calls "
                                      "outside of it")
        state, before = _thunder.random_state(), get_rng_state()
        state.copy_(generator._state)
        try:
            return op(*args, **named)
        finally:
            generator._state.copy_(state)
            state.copy_(before)
    drawn.__signature__ = getattr(op, "__signature__", None)
    return drawn


def seed_of(generator):
    """A seed from a generator, from the library's random state where it is None; a seed itself."""
    if generator is not None and not isinstance(generator, Generator):
        return generator
    return functions["randint"](0, 2 ** 31 - 1, [1], generator=generator).item()


_FUNCTIONS = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "bernoulli", "multinomial")
_METHODS = ("uniform_", "normal_", "random_", "bernoulli", "bernoulli_", "exponential_", "geometric_", "cauchy_", "log_normal_", "multinomial")
functions = {name: drawing(_op[name], name) for name in _FUNCTIONS if name in _op}


def add_methods(covered):
    for name in _METHODS:
        if hasattr(Tensor, name):
            setattr(Tensor, name, covered(drawing(getattr(Tensor, name), f"Tensor.{name}")))
