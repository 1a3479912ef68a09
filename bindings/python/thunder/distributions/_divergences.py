"""Kullback-Leibler divergences of distributions, by their pair of classes; and the normal of vectors."""
import math

from .. import _ops
from ._base import Distribution, _sum_right
from ._continuous import EULER, Exponential, Gumbel, Independent, Laplace, LogNormal, Normal, Uniform
from ._discrete import Bernoulli, Categorical, Geometric, Poisson

_op = _ops.functions
_rules = {}


def register_kl(type_p, type_q):
    """A decorator: the function(p, q) is kl_divergence() of these classes and of those derived from them."""
    def register(function):
        _rules[type_p, type_q] = function
        return function
    return register


def kl_divergence(p, q):
    """KL(p || q), in closed form."""
    found = [(type(p).__mro__.index(a) + type(q).__mro__.index(b), rule) for (a, b), rule in _rules.items()
             if isinstance(p, a) and isinstance(q, b)]
    if not found:
        raise NotImplementedError(f"kl_divergence: there is no closed form here of {type(p).__name__} and {type(q).__name__}: register_kl() adds "
                                  "one; else the mean of p.log_prob(x) - q.log_prob(x) over draws x of p is near it")
    return min(found, key=lambda pair: pair[0])[1](p, q)


class MultivariateNormal(Distribution):
    """Of vectors: by one of covariance_matrix, precision_matrix and scale_tril."""
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [one for one in (covariance_matrix, precision_matrix, scale_tril) if one is not None]
        if len(given) != 1:
            raise ValueError("MultivariateNormal: one of covariance_matrix, precision_matrix and scale_tril must be given")
        if precision_matrix is not None:
            covariance_matrix = _op["linalg_inv"](precision_matrix)
        size = loc.shape[-1]
        tril = scale_tril if scale_tril is not None else _op["linalg_cholesky"](covariance_matrix)
        batch = _op["add"](_op["zeros"](list(loc.shape[:-1])), _op["zeros"](list(tril.shape[:-2]))).shape
        self.loc, self.scale_tril = _op["expand"](loc, [*batch, size]), _op["expand"](tril, [*batch, size, size])
        super().__init__(batch, (size,))

    @property
    def covariance_matrix(self):
        return _op["matmul"](self.scale_tril, self.scale_tril.mT)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def variance(self):
        return _op["sum"](self.scale_tril ** 2, [-1])

    def rsample(self, sample_shape=()):
        noise = _op["randn_like"](_op["expand"](self.loc, self._shape(sample_shape)))
        return self.loc + _op["squeeze"](_op["matmul"](self.scale_tril, _op["unsqueeze"](noise, -1)), -1)

    def _half_log_det(self):
        return _op["sum"](_op["log"](_op["diagonal"](self.scale_tril, 0, -2, -1)), [-1])

    def log_prob(self, value):
        gap = _op["unsqueeze"](value - self.loc, -1)
        tril = _op["expand"](self.scale_tril, [*gap.shape[:-2], *self.scale_tril.shape[-2:]])
        solved = _op["squeeze"](_op["linalg_solve_triangular"](tril, gap, upper=False), -1)
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + _op["sum"](solved ** 2, [-1])) - self._half_log_det()

    def entropy(self):
        return 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det()


@register_kl(Normal, Normal)
def _(p, q):
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - _op["log"](ratio))


@register_kl(LogNormal, LogNormal)
def _(p, q):
    return _rules[Normal, Normal](p, q)


@register_kl(Bernoulli, Bernoulli)
def _(p, q):
    ours = _op["softplus"]
    one = p.probs * (ours(-q.logits) - ours(-p.logits))
    return one + (1 - p.probs) * (ours(q.logits) - ours(p.logits))


@register_kl(Categorical, Categorical)
def _(p, q):
    return _op["sum"](_op["where"](p.probs > 0, p.probs * (p.logits - q.logits), 0.0), [-1])


@register_kl(Exponential, Exponential)
def _(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - _op["log"](ratio)


@register_kl(Geometric, Geometric)
def _(p, q):
    return -p.entropy() - _op["log1p"](-q.probs) / p.probs - q.logits


@register_kl(Laplace, Laplace)
def _(p, q):
    ratio, gap = p.scale / q.scale, _op["abs"](p.loc - q.loc)
    return -_op["log"](ratio) + gap / q.scale + ratio * _op["exp"](-gap / p.scale) - 1


@register_kl(Gumbel, Gumbel)
def _(p, q):
    ratio, gap = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -_op["log"](ratio) + gap + ratio * EULER + _op["exp"](_op["lgamma"](ratio + 1) - gap) - (1 + EULER)


@register_kl(Poisson, Poisson)
def _(p, q):
    return p.rate * (_op["log"](p.rate) - _op["log"](q.rate)) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _(p, q):
    apart = (q.low > p.low) | (q.high < p.high)
    return _op["where"](apart, math.inf, _op["log"]((q.high - q.low) / (p.high - p.low)))


@register_kl(Independent, Independent)
def _(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: of Independent ones both must take as many dims of the batch")
    return _sum_right(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p, q):
    size = p.event_shape[0]
    shape = [*(p.loc + q.loc).shape, size]
    across = _op["linalg_solve_triangular"](_op["expand"](q.scale_tril, shape), _op["expand"](p.scale_tril, shape), upper=False)
    gap = _op["linalg_solve_triangular"](_op["expand"](q.scale_tril, shape), _op["unsqueeze"](p.loc - q.loc, -1), upper=False)
    return q._half_log_det() - p._half_log_det() + 0.5 * (_op["sum"](across ** 2, [-1, -2]) + _op["sum"](gap ** 2, [-1, -2]) - size)
