"""Ops of PyTorch that only Python has, composed of the library's: histograms, quantiles, strided views."""
from . import _create, _ops, _tensor, _thunder
from ._forms import results_type
from ._thunder import Tensor

_op = _ops.functions


def as_strided(x, size, stride, storage_offset=None):
    """A view of a contiguous tensor whose elements are `stride` apart along each dim, from its first element on."""
    if storage_offset is not None:
        raise ValueError("as_strided: storage_offset counts from the beginning of the memory that a tensor is a view of, which is not known here: "
                         "x.reshape(-1)[n:].as_strided(size, stride) begins at an element of x")
    if not _thunder.is_tracing() and not x.is_contiguous():
        raise ValueError("as_strided: of contiguous tensors alone here, since strides are of memory: contiguous() comes before")
    if len(size) != len(stride) or any(n < 0 for n in (*size, *stride)):
        raise ValueError(f"as_strided: size and stride are as many numbers, none negative, got {tuple(size)} and {tuple(stride)}")
    if 0 in size:
        return _op["zeros"](list(size), x.dtype, x.device)
    reach = sum((n - 1) * s for n, s in zip(size, stride)) + 1
    if reach > x.numel():
        raise RuntimeError(f"as_strided: size {tuple(size)} and stride {tuple(stride)} reach {reach} elements, the tensor has {x.numel()}")
    made = _op["reshape"](x, [-1])[:reach]
    # From the largest stride to the smallest: each dim is a sequence of windows, as long as the extent of the dims inside it.
    order = sorted(range(len(size)), key=lambda at: -stride[at])
    for place, at in enumerate(order):
        inside = 1 + sum((size[other] - 1) * stride[other] for other in order[place + 1:])
        made = made[..., :(size[at] - 1) * stride[at] + inside]
        made = _op["unfold"](made, -1, inside, stride[at]) if stride[at] else _op["expand"](
            _op["unsqueeze"](made, -2), [*made.shape[:-1], size[at], made.shape[-1]])
    made = made[..., 0]
    return _op["permute"](made, sorted(range(len(size)), key=order.__getitem__)) if len(size) > 1 else made


def histogram(input, bins, *, range=None, weight=None, density=False):
    """(the number of elements in each bin, the edges of the bins). bins: how many equal bins, over range or all elements, or
    the edges."""
    if isinstance(bins, Tensor):
        edges = _op["clone"](bins)
    else:
        low, high = range if range is not None else (0.0, 1.0) if not input.numel() else (float(_op["amin"](input)), float(_op["amax"](input)))
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        edges = _op["linspace"](low, high, bins + 1, input.dtype, input.device)
    count, flat = edges.shape[0] - 1, _op["reshape"](input, [-1])
    places = _op["bucketize"](flat, edges, right=True) - 1
    places = _op["where"](flat == edges[-1], count - 1, places)  # the last bin includes its upper edge
    inside = (places >= 0) & (places < count)
    weights = _op["ones_like"](flat) if weight is None else _op["to"](_op["reshape"](weight, [-1]), input.dtype)
    weights = _op["where"](inside, weights, _op["zeros_like"](weights))
    hist = _op["index_add"](_op["zeros"]([count], input.dtype, input.device), 0, _op["clamp"](places, 0, count - 1), weights)
    if density:
        hist = hist / (_op["sum"](hist) * (edges[1:] - edges[:-1]))
    return results_type("histogram", ("hist", "bin_edges"))(hist, edges)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """quantile() of the elements that are not NaN; NaN where all are."""
    if interpolation not in _INTERPOLATIONS:
        raise ValueError(f"nanquantile: interpolation must be {', '.join(_INTERPOLATIONS)}, got {interpolation!r}")
    whole, q = dim is None or not input.ndim, q if isinstance(q, Tensor) else _create.tensor(q, input.dtype, input.device)
    rank, x = input.ndim, _op["reshape"](input, [-1]) if whole else _op["movedim"](input, dim, -1)
    ordered = _op["sort"](x, -1)[0]  # NaN sorts last
    counts = _op["sum"](_op["logical_not"](_op["isnan"](x)), [-1], True)
    levels = _op["reshape"](q, [-1] + [1] * x.ndim)
    at = _op["to"](levels, input.dtype) * _op["to"](_op["clamp"](counts - 1, 0), input.dtype)
    below = _op["floor"](at)
    share = _INTERPOLATIONS[interpolation](at - below, below)
    shape = [levels.shape[0], *x.shape]

    def taken(places):
        places = _op["expand"](_op["to"](places, _thunder.int64), [*shape[:-1], 1])
        return _op["gather"](_op["expand"](ordered, shape), -1, places)
    low = taken(below)
    made = _op["where"](share == 0, low, low + (taken(_op["minimum"](below + 1, _op["to"](_op["clamp"](counts - 1, 0), input.dtype))) - low) * share)
    made = _op["squeeze"](made, -1)
    if keepdim:
        made = _op["reshape"](made, [shape[0]] + [1] * rank) if whole else _op["unsqueeze"](made, dim + 1 if dim >= 0 else dim)
    return made if q.ndim else made[0]


_INTERPOLATIONS = {
    "linear": lambda share, below: share, "lower": lambda share, below: share * 0, "higher": lambda share, below: _op["ceil"](share),
    "midpoint": lambda share, below: _op["where"](share > 0, 0.5, 0.0),
    "nearest": lambda share, below: _op["round"](share + below) - below}


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """The slices of source along dim reduced into those of input that index names: by "prod", "mean", "amax" or "amin"."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise ValueError(f"index_reduce: reduce must be 'prod', 'mean', 'amax' or 'amin', got {reduce!r}")
    shape = [1] * source.ndim
    if source.ndim:
        shape[dim] = -1
    places = _op["expand"](_op["reshape"](index, shape), list(source.shape))
    return _op["scatter_reduce"](input, dim, places, source, reduce, include_self=include_self)


def vander(x, N=None, increasing=False):
    """The powers of the elements of a vector, a row each, from N - 1 down to 0."""
    count = x.shape[0] if N is None else N
    powers = _op["arange"](count, device=x.device)
    return _op["unsqueeze"](x, -1) ** (powers if increasing else _op["flip"](powers, [0]))


def cumulative_trapezoid(y, x=None, *, dx=1.0, dim=-1):
    """Cumulative integral of y along dim by the trapezoidal rule."""
    y = _op["movedim"](y, dim, -1)
    if x is not None:
        x = _op["movedim"](x, dim, -1) if x.ndim > 1 else x
        dx = x[..., 1:] - x[..., :-1]
    return _op["movedim"](_op["cumsum"]((y[..., 1:] + y[..., :-1]) * 0.5 * dx, -1), -1, dim)


def _random_(x, *bounds):
    """random_(to), random_(from, to): integers drawn into the tensor; without bounds all that its dtype holds, of floats up to 2^24."""
    if len(bounds) > 2:
        raise TypeError("random_: takes from and to")
    digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}.get(x.dtype.name, 8 * x.dtype.itemsize - 1)
    low, high = (0, *bounds)[-2:] if bounds else (0, 2 ** min(digits, 62))
    return x.copy_(_op["randint"](low, high, list(x.shape)))


functions = {"as_strided": as_strided, "histogram": histogram, "nanquantile": nanquantile, "index_reduce": index_reduce, "vander": vander,
             "cumulative_trapezoid": cumulative_trapezoid, "trapz": _op["trapezoid"]}
members = {**{name: functions[name] for name in ("as_strided", "histogram", "nanquantile", "index_reduce")}, "random_": _random_,
           "index_reduce_": lambda x, dim, index, source, reduce, *, include_self=True: x.copy_(
               index_reduce(x, dim, index, source, reduce, include_self=include_self))}
for _name, _member in members.items():
    setattr(Tensor, _name, _tensor.covered(_member))
