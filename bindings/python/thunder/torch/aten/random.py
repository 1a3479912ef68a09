"""Numbers drawn. A graph that draws has the state, seed and count, as an argument more, from torch's generator anew at each call:
torch.manual_seed decides what is drawn, though the numbers are not those of eager torch."""
import math
import threading

from ... import _thunder
from .._rows import hidden, op, row, type_of

_FAR = 1 << 40  # seeds of ops are as far apart


class Draws(threading.local):
    """The state of the graph that this thread records, and how many ops have drawn from it."""
    state, count = None, 0


draws = Draws()


def begin(state):
    draws.state, draws.count = state, 0


def _drawn(prim, device, *arguments):
    """Of a prim that takes (state, ordinal, ...)."""
    ordinal, draws.count = draws.count, draws.count + 1
    return hidden(f"prims.philox_{prim}")(op["to"](draws.state, None, device), ordinal, *arguments)


def state_of_op(device):
    """A state of the next op alone, from which a backward can draw the same again."""
    ordinal, draws.count = draws.count, draws.count + 1
    seed, calls = draws.state[0] + (ordinal + 1) * _FAR, draws.state[1]
    return op["to"](op["stack"]([seed, calls]), None, device)


def uniform_of(state, shape, device):
    """The numbers of such a state."""
    return hidden("prims.philox_uniform")(state, 0, list(shape), _thunder.float32)


def _uniform(shape, dtype, device):
    return _drawn("uniform", device, list(shape), dtype)


def _normal(shape, dtype, device):
    return _drawn("normal", device, list(shape), dtype)


@row("rand", results=True, draws=True)
def rand(like, size, **kind):
    return _uniform(size, *type_of(like))


@row("rand_like", results=True, draws=True)
def rand_like(like, self, **kind):
    return _uniform(self.shape, *type_of(like))


@row("randn", results=True, draws=True)
def randn(like, size, **kind):
    return _normal(size, *type_of(like))


@row("randn_like", results=True, draws=True)
def randn_like(like, self, **kind):
    return _normal(self.shape, *type_of(like))


def _integers(like, low, high, shape):
    dtype, device = type_of(like)
    return op["to"](_drawn("randint", device, low, high, list(shape)), dtype)


@row("randint", results=True, draws=True)
def randint(like, high, size, **kind):
    return _integers(like, 0, high, size)


@row("randint.low", results=True, draws=True)
def randint_from(like, low, high, size, **kind):
    return _integers(like, low, high, size)


@row("randint_like", results=True, draws=True)
def randint_like(like, self, high, **kind):
    return _integers(like, 0, high, self.shape)


@row("randint_like.low_dtype", results=True, draws=True)
def randint_like_from(like, self, low, high, **kind):
    return _integers(like, low, high, self.shape)


@row("randperm", results=True, draws=True)
def randperm(like, n, **kind):
    dtype, device = type_of(like)
    return op["to"](_drawn("permutation", device, [n]), dtype)


@row("bernoulli", draws=True)
def bernoulli(self, p=None, generator=None):
    return op["to"](op["lt"](_uniform(self.shape, _thunder.float32, self.device), self if p is None else p), self.dtype)


@row("uniform", draws=True)
def uniform(self, low=0.0, high=1.0, generator=None):
    return _uniform(self.shape, self.dtype, self.device) * (high - low) + low


@row("normal_functional", draws=True)
def normal(self, mean=0.0, std=1.0, generator=None):
    return _normal(self.shape, self.dtype, self.device) * std + mean


@row("exponential", draws=True)
def exponential(self, lambd=1.0, generator=None):
    return op["log1p"](-_uniform(self.shape, self.dtype, self.device)) * (-1 / lambd)


@row("normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor", results=True, draws=True)
def normal_around(like, mean, std=1.0, generator=None):
    dtype, device = type_of(like)
    return _normal(like.shape, dtype, device) * std + mean


@row("normal.float_float", results=True, draws=True)
def normal_of_size(like, mean, std, size, **kind):
    return _normal(size, *type_of(like)) * std + mean


@row("log_normal", draws=True)
def log_normal(self, mean=1.0, std=2.0, generator=None):
    return op["exp"](_normal(self.shape, self.dtype, self.device) * std + mean)


@row("cauchy", draws=True)
def cauchy(self, median=0.0, sigma=1.0, generator=None):
    return op["tan"]((_uniform(self.shape, self.dtype, self.device) - 0.5) * math.pi) * sigma + median


@row("geometric", draws=True)
def geometric(self, p, generator=None):
    drawn = op["log1p"](-_uniform(self.shape, _thunder.float32, self.device)) / math.log1p(-p)
    return op["to"](op["floor"](drawn) + 1, self.dtype)


@row("multinomial", draws=True)
def multinomial(self, num_samples, replacement=False, generator=None):
    """The largest of the logarithms with Gumbel's noise are a sample without replacement; the largest of each of several, one with."""
    weights = op["log"](self.float())
    if replacement:
        weights = op["expand"](op["unsqueeze"](weights, -2), [*self.shape[:-1], num_samples, self.shape[-1]])
    noise = -op["log"](-op["log"](_uniform(weights.shape, _thunder.float32, self.device)))
    return op["argmax"](weights + noise, -1) if replacement else op["topk"](weights + noise, num_samples)[1]


def _dropped_gradient(arguments, cotangent, mask):
    _, p, train = arguments
    scale = 1.0 if train is False else 0.0 if p == 1 else 1 / (1 - p)
    return op["where"](mask, cotangent * scale, 0)


@row("native_dropout", draws=True, gradient=_dropped_gradient)
def native_dropout(input, p, train):
    """The kept elements, larger by as much as is lost; and which they are."""
    if train is False or p == 0:
        return op["clone"](input), op["full"](list(input.shape), True, _thunder.bool, input.device)
    kept = op["ge"](_uniform(input.shape, _thunder.float32, input.device), p)
    return op["where"](kept, input * (1 / (1 - p)), 0) if p < 1 else op["zeros_like"](input), kept


@row("native_dropout_backward")
def native_dropout_backward(grad_output, mask, scale):
    return op["where"](mask, grad_output * scale, 0)
