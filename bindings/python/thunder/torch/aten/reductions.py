"""Sums, extremes, orders, softmax."""
from ... import _thunder
from .._rows import op, row, same

same("argmax argmin cummax cummin logcumsumexp kthvalue mode count_nonzero median.dim=median nanmedian.dim=nanmedian")


def _all_if_empty(dim):
    """A list of no dims stands for all of them."""
    return None if dim is None or (isinstance(dim, (list, tuple)) and not dim) else dim


@row("sum")
def sum(self, dim=None, keepdim=False, dtype=None):
    return op["sum"](self, _all_if_empty(dim), keepdim, dtype)


@row("mean")
def mean(self, dim=None, keepdim=False, dtype=None):
    return op["mean"](self, _all_if_empty(dim), keepdim, dtype)


@row("prod")
def prod(self, dim=None, keepdim=False, dtype=None):
    return op["prod"](self, dim, keepdim, dtype)


@row("amax")
def amax(self, dim=(), keepdim=False):
    return op["amax"](self, _all_if_empty(dim), keepdim)


@row("amin")
def amin(self, dim=(), keepdim=False):
    return op["amin"](self, _all_if_empty(dim), keepdim)


@row("max")
def max(self):
    return op["amax"](self)


@row("min")
def min(self):
    return op["amin"](self)


@row("max.dim")
def max_dim(self, dim, keepdim=False):
    return self.max(dim, keepdim)


@row("min.dim")
def min_dim(self, dim, keepdim=False):
    return self.min(dim, keepdim)


@row("median")
def median(self):
    return op["median"](self)


@row("nanmedian")
def nanmedian(self):
    return op["nanmedian"](self)


@row("any")
def any(self, dim=None, keepdim=False):
    return op["any"](self, dim, keepdim)


@row("all")
def all(self, dim=None, keepdim=False):
    return op["all"](self, dim, keepdim)


@row("var.correction")
def var(self, dim=None, correction=None, keepdim=False):
    return op["var"](self, _all_if_empty(dim), 1 if correction is None else correction, keepdim)


@row("var_mean.correction")
def var_mean(self, dim=None, correction=None, keepdim=False):
    return op["var_mean"](self, _all_if_empty(dim), 1 if correction is None else correction, keepdim)


@row("cumsum")
def cumsum(self, dim, dtype=None):
    return op["cumsum"](self, dim, dtype)


@row("cumprod")
def cumprod(self, dim, dtype=None):
    return op["cumprod"](self, dim, dtype)


@row("logsumexp")
def logsumexp(self, dim, keepdim=False):
    return op["logsumexp"](self, dim, keepdim)


@row("linalg_vector_norm")
def vector_norm(self, ord=2, dim=None, keepdim=False, dtype=None):
    return op["linalg_vector_norm"](self, ord, _all_if_empty(dim), keepdim, dtype)


@row("sort")
def sort(self, dim=-1, descending=False, stable=None):
    return op["sort"](self, dim, descending, True)


@row("histc")
def histc(self, bins=100, min=0, max=0):
    return op["histc"](self, bins, min, max)


@row("topk")
def topk(self, k, dim=-1, largest=True, sorted=True):
    return op["topk"](self, k, dim, largest, sorted)


# ---- softmax ----

def _along(name):
    def softmax(self, dim, half_to_float):
        return op[name](self, dim, _thunder.float32 if half_to_float else None)
    return softmax


row("_softmax", in_parts=True)(_along("softmax"))
row("_log_softmax", in_parts=True)(_along("log_softmax"))


@row("_softmax_backward_data", in_parts=True)
def softmax_backward(grad_output, output, dim, input_dtype):
    weighed = grad_output * output
    return op["to"](weighed - output * op["sum"](weighed, [dim], True), input_dtype)


@row("_log_softmax_backward_data", in_parts=True)
def log_softmax_backward(grad_output, output, dim, input_dtype):
    return op["to"](grad_output - op["exp"](output) * op["sum"](grad_output, [dim], True), input_dtype)
