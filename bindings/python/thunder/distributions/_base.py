"""What all distributions have in common."""
from .. import _create, _ops
from .._thunder import Tensor

_op = _ops.functions


def _together(*values):
    """Numbers and tensors as tensors of one shape."""
    tensors = [value if isinstance(value, Tensor) else _create.tensor(float(value)) for value in values]
    return _op["broadcast_tensors"](tensors) if len(tensors) > 1 else tensors


def _sum_right(x, dims):
    return _op["sum"](x, list(range(x.ndim - dims, x.ndim))) if dims else x


class Distribution:
    """What all have in common: batch_shape, of the parameters; event_shape, of one draw."""
    has_rsample = False
    support = None

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self.batch_shape, self.event_shape = tuple(batch_shape), tuple(event_shape)

    def _shape(self, sample_shape):
        return [*sample_shape, *self.batch_shape, *self.event_shape]

    def rsample(self, sample_shape=()):
        """A draw that gradients pass to the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample(): its draws have no gradient; sample() draws, log_prob() scores them")

    def sample(self, sample_shape=()):
        """A draw of the shape sample_shape + batch_shape + event_shape, without gradients."""
        return _op["detach"](self.rsample(sample_shape))

    def log_prob(self, value):
        raise NotImplementedError(f"{type(self).__name__} has no log_prob()")

    def entropy(self):
        raise NotImplementedError(f"{type(self).__name__} has no entropy()")

    def cdf(self, value):
        raise NotImplementedError(f"{type(self).__name__} has no cdf()")

    def icdf(self, value):
        raise NotImplementedError(f"{type(self).__name__} has no icdf()")

    @property
    def stddev(self):
        return _op["sqrt"](self.variance)

    def perplexity(self):
        return _op["exp"](self.entropy())

    def __repr__(self):
        return f"{type(self).__name__}(batch_shape={self.batch_shape}, event_shape={self.event_shape})"
