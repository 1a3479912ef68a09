"""Distributions that are drawn of gamma variables, whose gradients are those of their quantiles."""
import math

from .. import _dtypes, _ops, _thunder
from ._base import Distribution, _together
from ._continuous import _LocScale, _uniform_open
from ._divergences import kl_divergence, register_kl

_op = _ops.functions


def _log_beta(concentration):
    """Of the parameters along the last dim: the logarithm of what their densities are divided by."""
    return _op["sum"](_op["lgamma"](concentration), [-1]) - _op["lgamma"](_op["sum"](concentration, [-1]))


class Gamma(Distribution):
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = _together(concentration, rate)
        super().__init__(self.concentration.shape)

    def rsample(self, sample_shape=()):
        made = _op["standard_gamma"](_op["expand"](self.concentration, self._shape(sample_shape))) / self.rate
        return _op["clamp"](made, _dtypes.finfo(made.dtype).tiny)

    def log_prob(self, value):
        c, rate = self.concentration, self.rate
        return _op["xlogy"](c, rate) + _op["xlogy"](c - 1, value) - rate * value - _op["lgamma"](c)

    def entropy(self):
        c = self.concentration
        return c - _op["log"](self.rate) + _op["lgamma"](c) + (1 - c) * _op["digamma"](c)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return _op["clamp"]((self.concentration - 1) / self.rate, 0)

    @property
    def variance(self):
        return self.concentration / self.rate ** 2


class Chi2(Gamma):
    """The sum of the squares of df normal variables."""

    def __init__(self, df, validate_args=None):
        df, = _together(df)
        super().__init__(0.5 * df, 0.5)

    @property
    def df(self):
        return self.concentration * 2


class Dirichlet(Distribution):
    """Shares of a whole along the last dim."""
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.ndim < 1:
            raise ValueError("Dirichlet: concentration has at least one dim, that of the shares")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    def rsample(self, sample_shape=()):
        dtype = self.concentration.dtype
        wide = _op["expand"](_op["to"](self.concentration, _thunder.float64), self._shape(sample_shape))
        # Logarithms of gamma variables, which of small parameters are all too small for numbers.
        logs = _op["log"](_op["standard_gamma"](wide + 1)) + _op["log"](_uniform_open(wide)) / wide
        return _op["clamp"](_op["to"](_op["softmax"](logs, -1), dtype), _dtypes.finfo(dtype).tiny)

    def log_prob(self, value):
        return _op["sum"](_op["xlogy"](self.concentration - 1, value), [-1]) - _log_beta(self.concentration)

    def entropy(self):
        c, count = self.concentration, self.event_shape[0]
        total = _op["sum"](c, [-1])
        return _log_beta(c) - (count - total) * _op["digamma"](total) - _op["sum"]((c - 1) * _op["digamma"](c), [-1])

    @property
    def mean(self):
        return self.concentration / _op["sum"](self.concentration, [-1], True)

    @property
    def mode(self):
        above = _op["clamp"](self.concentration - 1, 0)
        corner = _op["one_hot"](_op["argmax"](self.concentration, -1), self.event_shape[0])
        inside = _op["any"](self.concentration >= 1, -1, True)
        return _op["where"](inside, above / _op["sum"](above, [-1], True), _op["to"](corner, above.dtype))

    @property
    def variance(self):
        total, mean = _op["sum"](self.concentration, [-1], True), self.mean
        return mean * (1 - mean) / (total + 1)


class Beta(Distribution):
    """The first of two shares of a whole."""
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = _together(concentration1, concentration0)
        self._shares = Dirichlet(_op["stack"]([self.concentration1, self.concentration0], -1))
        super().__init__(self.concentration1.shape)

    def rsample(self, sample_shape=()):
        return self._shares.rsample(sample_shape)[..., 0]

    def log_prob(self, value):
        value, = _together(value)
        return self._shares.log_prob(_op["stack"]([value, 1 - value], -1))

    def entropy(self):
        return self._shares.entropy()

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self._shares.mode[..., 0]

    @property
    def variance(self):
        return self._shares.variance[..., 0]


class StudentT(_LocScale):
    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = _together(df, loc, scale)
        Distribution.__init__(self, self.df.shape)

    def _standard(self, like):
        df = _op["expand"](self.df, list(like.shape))
        return _op["randn_like"](like) * _op["rsqrt"](2 * _op["standard_gamma"](0.5 * df) / df)

    def log_prob(self, value):
        df = self.df
        normal = _op["log"](self.scale) + 0.5 * _op["log"](df) + 0.5 * math.log(math.pi) + _op["lgamma"](0.5 * df) - _op["lgamma"](0.5 * (df + 1))
        return -0.5 * (df + 1) * _op["log1p"](self._scaled(value) ** 2 / df) - normal

    def entropy(self):
        df = self.df
        log_beta = math.lgamma(0.5) + _op["lgamma"](0.5 * df) - _op["lgamma"](0.5 * (df + 1))
        half = 0.5 * (df + 1)
        return _op["log"](self.scale) + half * (_op["digamma"](half) - _op["digamma"](0.5 * df)) + 0.5 * _op["log"](df) + log_beta

    @property
    def mean(self):
        return _op["where"](self.df > 1, self.loc, math.nan)

    @property
    def variance(self):
        finite = _op["where"](self.df > 2, self.df / (self.df - 2), math.inf) * self.scale ** 2
        return _op["where"](self.df > 1, finite, math.nan)


@register_kl(Gamma, Gamma)
def _(p, q):
    c, log, lgamma = p.concentration, _op["log"], _op["lgamma"]
    return (q.concentration * log(p.rate / q.rate) + lgamma(q.concentration) - lgamma(c) + (c - q.concentration) * _op["digamma"](c)
            + (q.rate - p.rate) * (c / p.rate))


@register_kl(Dirichlet, Dirichlet)
def _(p, q):
    c, digamma = p.concentration, _op["digamma"]
    gap = digamma(c) - digamma(_op["sum"](c, [-1], True))
    return _log_beta(q.concentration) - _log_beta(c) + _op["sum"]((c - q.concentration) * gap, [-1])


@register_kl(Beta, Beta)
def _(p, q):
    return kl_divergence(p._shares, q._shares)
