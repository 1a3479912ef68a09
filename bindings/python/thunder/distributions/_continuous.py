"""Distributions of reals whose draws are functions of uniform or normal ones, and distributions of several that are independent."""
import math

from .. import _ops, _thunder
from ._base import Distribution, _sum_right, _together

_op = _ops.functions
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
EULER = 0.5772156649015329


class _LocScale(Distribution):
    """loc + scale times a draw of the standard one."""
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _together(loc, scale)
        super().__init__(self.loc.shape)

    def _standard(self, shape):
        raise NotImplementedError

    def rsample(self, sample_shape=()):
        like = _op["expand"](self.loc, self._shape(sample_shape))
        return self.loc + self._standard(like) * self.scale

    def _scaled(self, value):
        return (value - self.loc) / self.scale

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc


def _uniform_open(like):
    """Numbers of (0, 1), without the ends."""
    tiny = 2.0 ** -24 if like.dtype is not _thunder.float64 else 2.0 ** -53
    return _op["clamp"](_op["rand_like"](like), tiny, 1.0 - tiny)


class Normal(_LocScale):
    def _standard(self, like):
        return _op["randn_like"](like)

    def log_prob(self, value):
        return -(self._scaled(value) ** 2) * 0.5 - _op["log"](self.scale) - _HALF_LOG_2PI

    def entropy(self):
        return 0.5 + _HALF_LOG_2PI + _op["log"](self.scale)

    def cdf(self, value):
        return 0.5 * (1 + _op["erf"](self._scaled(value) / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * _op["erfinv"](2 * value - 1) * math.sqrt(2)

    @property
    def variance(self):
        return self.scale ** 2


class Laplace(_LocScale):
    def _standard(self, like):
        u = _uniform_open(like) - 0.5
        return -_op["sign"](u) * _op["log1p"](-2 * _op["abs"](u))

    def log_prob(self, value):
        return -_op["log"](2 * self.scale) - _op["abs"](value - self.loc) / self.scale

    def entropy(self):
        return 1 + _op["log"](2 * self.scale)

    def cdf(self, value):
        z = self._scaled(value)
        return 0.5 - 0.5 * _op["sign"](z) * _op["expm1"](-_op["abs"](z))

    @property
    def variance(self):
        return 2 * self.scale ** 2


class Gumbel(_LocScale):
    def _standard(self, like):
        return -_op["log"](-_op["log"](_uniform_open(like)))

    def log_prob(self, value):
        z = self._scaled(value)
        return -(z + _op["exp"](-z)) - _op["log"](self.scale)

    def entropy(self):
        return _op["log"](self.scale) + (1 + EULER)

    @property
    def mean(self):
        return self.loc + self.scale * EULER

    @property
    def variance(self):
        return (math.pi ** 2 / 6) * self.scale ** 2


class Cauchy(_LocScale):
    def _standard(self, like):
        return _op["tan"](math.pi * (_uniform_open(like) - 0.5))

    def log_prob(self, value):
        return -math.log(math.pi) - _op["log"](self.scale) - _op["log1p"](self._scaled(value) ** 2)

    def entropy(self):
        return math.log(4 * math.pi) + _op["log"](self.scale)

    @property
    def mean(self):
        return self.loc * math.nan

    @property
    def variance(self):
        return self.loc * math.inf


class LogNormal(Normal):
    def rsample(self, sample_shape=()):
        return _op["exp"](super().rsample(sample_shape))

    def log_prob(self, value):
        log = _op["log"](value)
        return super().log_prob(log) - log

    def entropy(self):
        return super().entropy() + self.loc

    def cdf(self, value):
        return super().cdf(_op["log"](value))

    @property
    def mean(self):
        return _op["exp"](self.loc + 0.5 * self.scale ** 2)

    @property
    def mode(self):
        return _op["exp"](self.loc - self.scale ** 2)

    @property
    def variance(self):
        return _op["expm1"](self.scale ** 2) * _op["exp"](2 * self.loc + self.scale ** 2)


class Uniform(Distribution):
    """Between low and high, which is left out."""
    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = _together(low, high)
        super().__init__(self.low.shape)

    def rsample(self, sample_shape=()):
        return self.low + _op["rand_like"](_op["expand"](self.low, self._shape(sample_shape))) * (self.high - self.low)

    def log_prob(self, value):
        inside = (value >= self.low) & (value < self.high)
        return _op["where"](inside, -_op["log"](self.high - self.low), -math.inf)

    def entropy(self):
        return _op["log"](self.high - self.low)

    def cdf(self, value):
        return _op["clamp"]((value - self.low) / (self.high - self.low), 0, 1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    @property
    def mean(self):
        return (self.low + self.high) / 2

    @property
    def variance(self):
        return (self.high - self.low) ** 2 / 12


class Exponential(Distribution):
    has_rsample = True

    def __init__(self, rate, validate_args=None):
        self.rate, = _together(rate)
        super().__init__(self.rate.shape)

    def rsample(self, sample_shape=()):
        return -_op["log"](_uniform_open(_op["expand"](self.rate, self._shape(sample_shape)))) / self.rate

    def log_prob(self, value):
        return _op["log"](self.rate) - self.rate * value

    def entropy(self):
        return 1 - _op["log"](self.rate)

    def cdf(self, value):
        return -_op["expm1"](-self.rate * value)

    @property
    def mean(self):
        return 1 / self.rate

    @property
    def variance(self):
        return self.rate ** -2


class Independent(Distribution):
    """The last dims of the batch as a part of the event: log_prob() and entropy() are sums over them."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        shape, kept = base_distribution.batch_shape, len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Independent: the batch has {len(shape)} dims, fewer than reinterpreted_batch_ndims, {reinterpreted_batch_ndims}")
        super().__init__(shape[:kept], shape[kept:] + base_distribution.event_shape)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean, mode, variance = (property(lambda self, name=name: getattr(self.base_dist, name)) for name in ("mean", "mode", "variance"))

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value):
        return _sum_right(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return _sum_right(self.base_dist.entropy(), self.reinterpreted_batch_ndims)
