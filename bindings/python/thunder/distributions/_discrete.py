"""Distributions of whole numbers and of categories, by probabilities or by logits."""
import math

from .. import _create, _ops
from .._thunder import Tensor
from ._base import Distribution, _together

_op = _ops.functions


class _Trials(Distribution):
    """Of one trial that succeeds or not: probs, or logits, its log odds."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError(f"{type(self).__name__}: either probs or logits must be given, and not both")
        self._by_logits = logits is not None
        self._given, = _together(logits if self._by_logits else probs)
        super().__init__(self._given.shape)

    @property
    def probs(self):
        return _op["sigmoid"](self._given) if self._by_logits else self._given

    @property
    def logits(self):
        if self._by_logits:
            return self._given
        clamped = _op["clamp"](self._given, 1e-7, 1 - 1e-7)
        return _op["log"](clamped) - _op["log1p"](-clamped)

    def _cross_entropy(self, target):
        logits = self.logits
        return _op["binary_cross_entropy_with_logits"](*_together(logits, target), reduction="none")


class Bernoulli(_Trials):
    def sample(self, sample_shape=()):
        return _op["detach"](_op["bernoulli"](_op["expand"](self.probs, self._shape(sample_shape))))

    def log_prob(self, value):
        return -self._cross_entropy(value)

    def entropy(self):
        return self._cross_entropy(self.probs)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return _op["to"](self.probs >= 0.5, self.probs.dtype)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)


class Geometric(_Trials):
    """How often it failed before the first success."""

    def sample(self, sample_shape=()):
        probs = _op["expand"](self.probs, self._shape(sample_shape))
        u = _op["clamp"](_op["rand_like"](probs), 2.0 ** -24, 1.0)
        return _op["detach"](_op["floor"](_op["log"](u) / _op["log1p"](-probs)))

    def log_prob(self, value):
        probs = self.probs
        return value * _op["log1p"](-probs) + _op["log"](probs)

    def entropy(self):
        return self._cross_entropy(self.probs) / self.probs

    @property
    def mean(self):
        return 1 / self.probs - 1

    @property
    def variance(self):
        return (1 / self.probs - 1) / self.probs


class Binomial(_Trials):
    """How many of total_count trials, a number, succeed."""

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if isinstance(total_count, Tensor):
            raise TypeError("Binomial: total_count is a number here, the same for the whole batch")
        super().__init__(probs, logits, validate_args)
        self.total_count = int(total_count)

    def sample(self, sample_shape=()):
        probs = _op["expand"](self.probs, [self.total_count, *self._shape(sample_shape)])
        return _op["detach"](_op["sum"](_op["bernoulli"](probs), [0]))

    def log_prob(self, value):
        n = float(self.total_count)
        choose = math.lgamma(n + 1) - _op["lgamma"](value + 1) - _op["lgamma"](n - value + 1)
        return choose + value * self.logits - n * _op["softplus"](self.logits)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)


class Poisson(Distribution):
    """How many of events that come independently, at a rate of their own."""

    def __init__(self, rate, validate_args=None):
        self.rate, = _together(rate)
        super().__init__(self.rate.shape)

    def sample(self, sample_shape=()):
        return _op["detach"](_op["poisson"](_op["expand"](self.rate, self._shape(sample_shape))))

    def log_prob(self, value):
        return _op["xlogy"](value, self.rate) - self.rate - _op["lgamma"](value + 1)

    @property
    def mean(self):
        return self.rate

    @property
    def variance(self):
        return self.rate


class Categorical(Distribution):
    """One of the places along the last dim, by probs, which need not sum to 1, or by logits."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError(f"{type(self).__name__}: either probs or logits must be given, and not both")
        given = logits if probs is None else probs
        given = given if isinstance(given, Tensor) else _create.tensor(given)
        if given.ndim < 1:
            raise ValueError(f"{type(self).__name__}: probs and logits have at least one dim, that of the categories")
        if probs is None:
            self.logits, self._probs = given - _op["logsumexp"](given, [-1], True), None
        else:
            self._probs = given / _op["sum"](given, [-1], True)
            self.logits = _op["log"](_op["clamp"](self._probs, 2.0 ** -23, 1 - 2.0 ** -23))
        self._events = given.shape[-1]
        super().__init__(given.shape[:-1])

    @property
    def probs(self):
        return _op["softmax"](self.logits, -1) if self._probs is None else self._probs

    @property
    def param_shape(self):
        return self.logits.shape

    def sample(self, sample_shape=()):
        noise = _op["rand_like"](_op["expand"](self.logits, [*sample_shape, *self.logits.shape]))
        noise = -_op["log"](-_op["log"](_op["clamp"](noise, 2.0 ** -24, 1 - 2.0 ** -24)))  # the largest of these is a draw
        return _op["argmax"](_op["detach"](self.logits) + noise, -1)

    def log_prob(self, value):
        value = _op["unsqueeze"](_op["to"](value, _create.tensor(0).dtype), -1)
        value, logits = _op["broadcast_tensors"]([value, self.logits])
        return _op["squeeze"](_op["gather"](logits, -1, value[..., :1]), -1)

    def entropy(self):
        return -_op["sum"](_op["clamp"](self.logits, -3.4028234663852886e38) * self.probs, [-1])

    @property
    def mode(self):
        return _op["argmax"](self.probs, -1)


class OneHotCategorical(Categorical):
    """Categorical, whose draws are ones at a place among zeros."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(probs, logits, validate_args)
        self.event_shape = (self._events,)

    def sample(self, sample_shape=()):
        return _op["to"](_op["one_hot"](super().sample(sample_shape), self._events), self.logits.dtype)

    def log_prob(self, value):
        return super().log_prob(_op["argmax"](value, -1))

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)
