"""Numbers drawn. A graph that draws has the state, seed and count, as an argument more, from torch's generator anew at each call:
torch.manual_seed decides what is drawn, though the numbers are not those of eager torch."""
import math
import threading

from ... import _thunder
from .._rows import hidden, meta, op, row, type_of

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


@row("rand", node=True, draws=True)
def rand(node, size, **kind):
    return _uniform(size, *type_of(node))


@row("rand_like", node=True, draws=True)
def rand_like(node, self, **kind):
    return _uniform(self.shape, *type_of(node))


@row("randn", node=True, draws=True)
def randn(node, size, **kind):
    return _normal(size, *type_of(node))


@row("randn_like", node=True, draws=True)
def randn_like(node, self, **kind):
    return _normal(self.shape, *type_of(node))


def _integers(node, low, high, shape):
    dtype, device = type_of(node)
    return op["to"](_drawn("randint", device, low, high, list(shape)), dtype)


@row("randint", node=True, draws=True)
def randint(node, high, size, **kind):
    return _integers(node, 0, high, size)


@row("randint.low", node=True, draws=True)
def randint_from(node, low, high, size, **kind):
    return _integers(node, low, high, size)


@row("randint_like", node=True, draws=True)
def randint_like(node, self, high, **kind):
    return _integers(node, 0, high, self.shape)


@row("randint_like.low_dtype", node=True, draws=True)
def randint_like_from(node, self, low, high, **kind):
    return _integers(node, low, high, self.shape)


@row("randperm", node=True, draws=True)
def randperm(node, n, **kind):
    dtype, device = type_of(node)
    return op["to"](_drawn("permutation", device, [n]), dtype)


@row("bernoulli", node=True, draws=True)
def bernoulli(node, self, p=None, generator=None):
    return op["to"](op["lt"](_uniform(self.shape, _thunder.float32, self.device), self if p is None else p), self.dtype)


@row("uniform", node=True, draws=True)
def uniform(node, self, low=0.0, high=1.0, generator=None):
    return _uniform(self.shape, self.dtype, self.device) * (high - low) + low


@row("normal_functional", node=True, draws=True)
def normal(node, self, mean=0.0, std=1.0, generator=None):
    return _normal(self.shape, self.dtype, self.device) * std + mean


@row("exponential", node=True, draws=True)
def exponential(node, self, lambd=1.0, generator=None):
    return op["log1p"](-_uniform(self.shape, self.dtype, self.device)) * (-1 / lambd)


@row("normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor", node=True, draws=True)
def normal_around(node, mean, std=1.0, generator=None):
    dtype, device = type_of(node)
    return _normal(meta(node).shape, dtype, device) * std + mean


@row("normal.float_float", node=True, draws=True)
def normal_of_size(node, mean, std, size, **kind):
    return _normal(size, *type_of(node)) * std + mean


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
