"""First values of parameters, written into the tensor, which is returned: PyTorch's torch.nn.init."""
import math
from statistics import NormalDist

import numpy

from . import _ops
from ._create import from_numpy

__all__ = ["calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_", "trunc_normal_",
           "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_"]

_op = _ops.functions


def _drawn(name, tensor, scale, shift):
    return _op["add"](_op["mul"](_op[name](list(tensor.shape)), scale), shift)


def uniform_(tensor, a=0.0, b=1.0):
    """Numbers between a and b."""
    return tensor.copy_(_drawn("rand", tensor, b - a, a))


def normal_(tensor, mean=0.0, std=1.0):
    """Normal numbers."""
    return tensor.copy_(_drawn("randn", tensor, std, mean))


def constant_(tensor, val):
    return tensor.fill_(val)


def ones_(tensor):
    return tensor.fill_(1.0)


def zeros_(tensor):
    return tensor.fill_(0.0)


def _matrix(who, tensor):
    if tensor.ndim != 2:
        raise ValueError(f"{who}: a tensor of two dims was expected, not of shape {tensor.shape}")


def eye_(tensor):
    """Ones on the diagonal of a matrix, zeros elsewhere."""
    _matrix("eye_", tensor)
    return tensor.copy_(from_numpy(numpy.eye(*tensor.shape, dtype=numpy.float32)))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    """Normal numbers between a and b: those outside are drawn again."""
    normal = NormalDist(mean, std)
    low, high = normal.cdf(a), normal.cdf(b)
    if high - low < 0.01:  # too few would be inside
        levels = _drawn("rand", tensor, high - low, low).numpy().astype(numpy.float64).clip(1e-12, 1 - 1e-12)
        values = numpy.vectorize(normal.inv_cdf, otypes=[numpy.float64])(levels)
        return tensor.copy_(from_numpy(numpy.asarray(values.clip(a, b))))
    values = _drawn("randn", tensor, std, mean)
    while bool((outside := (values < a) | (values > b)).any()):
        values = _op["where"](outside, _drawn("randn", tensor, std, mean), values)
    return tensor.copy_(values)


# ---- by the number of connections ----

_GAINS = {"linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0, "conv_transpose2d": 1.0,
          "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}


def calculate_gain(nonlinearity, param=None):
    """How much of the standard deviation is kept for what follows the layer; param: the slope of a leaky_relu."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"calculate_gain: unknown nonlinearity {nonlinearity!r}; there are {', '.join([*_GAINS, 'leaky_relu'])}")
    return _GAINS[nonlinearity]


def _fans(who, tensor):
    """(inputs, outputs) of an element of the result, and of the input."""
    if tensor.ndim < 2:
        raise ValueError(f"{who}: a tensor of at least two dims was expected, not of shape {tensor.shape}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def xavier_uniform_(tensor, gain=1.0):
    bound = gain * math.sqrt(6.0 / sum(_fans("xavier_uniform_", tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans("xavier_normal_", tensor))))


def _deviation(who, tensor, a, mode, nonlinearity):
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"{who}: mode must be 'fan_in' or 'fan_out', got {mode!r}")
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(who, tensor)[mode == "fan_out"])


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    bound = math.sqrt(3.0) * _deviation("kaiming_uniform_", tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    return normal_(tensor, 0.0, _deviation("kaiming_normal_", tensor, a, mode, nonlinearity))


def orthogonal_(tensor, gain=1):
    """Orthonormal rows, or columns when there are more rows; what has more dims is taken as a matrix of its first."""
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: a tensor of at least two dims was expected, not of shape {tensor.shape}")
    rows = tensor.shape[0]
    columns = math.prod(tensor.shape[1:])
    drawn = _op["randn"]([max(rows, columns), min(rows, columns)]).numpy()
    q, r = numpy.linalg.qr(drawn)
    q = q * numpy.sign(numpy.diag(r))
    made = numpy.ascontiguousarray((q.T if rows < columns else q) * gain, dtype=numpy.float32)
    return tensor.copy_(from_numpy(made.reshape(tensor.shape)))
