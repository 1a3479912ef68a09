"""Elements picked and put by tensors of places."""
from ... import _indexing, _thunder
from .._rows import op, row, same
from .._symbols import expression

same("gather index_select index_add index_copy take")


def _key(indices):
    return tuple(slice(None) if index is None else index for index in indices)


@row("index.Tensor", "_unsafe_index", results=True)
def index(like, self, indices):
    # The gradient of values that were put where a mask holds: torch knows how many there are.
    if len(indices) == 1 and _is_mask(indices[0]) and expression(like.shape[0]).is_Integer:
        return _at_places(self, indices[0], int(like.shape[0]))
    return _indexing.getitem(self, _key(indices))


def _is_mask(index):
    return index is not None and index.dtype is _thunder.bool


def _at_places(self, mask, count):
    """The elements (of the dims behind the mask's) at which a mask of the first dims is true. `count` is how many there are, as torch says;
    fewer are an error."""
    flat = op["reshape"](self, [-1, *self.shape[mask.ndim:]])
    places = op["nonzero_static"](op["reshape"](mask, [-1]), count, flat.shape[0])
    return op["index_select"](flat, 0, op["reshape"](places, [-1]))


@row("index_put", "_unsafe_index_put")
def index_put(self, indices, values, accumulate=False):
    if any(_is_mask(index) for index in indices):
        return _put_where(self, indices, values, accumulate)
    view, rest = _indexing._basic(self, _key(indices))
    front, dims = _indexing._in_front(view, rest)
    values = _indexing._to_front(op["to"](values, self.dtype), dims, rest, view.ndim)
    made = op["index_put"](front, [places for _, places in rest], values, accumulate)
    order = dims + [dim for dim in range(self.ndim) if dim not in dims]
    return op["permute"](made, sorted(range(self.ndim), key=order.__getitem__))


def _put_where(self, indices, values, accumulate):
    """A mask of the first dims, and one value for all places, or one for each."""
    mask = indices[0]
    rest = self.ndim - mask.ndim if len(indices) == 1 else 0
    each = values.ndim == rest + 1 and values.shape[0] != 1
    if len(indices) > 1 or values.ndim > rest + 1 or (each and values.shape[0] == 0):
        raise NotImplementedError("a mask beside other indices, or without places: write torch.where(mask, values, x)")
    values = op["to"](values, self.dtype)
    values = _to_places(mask, values) if each else op["squeeze"](values, [0]) if values.ndim > rest else values
    mask = op["reshape"](mask, [*mask.shape, *[1] * rest])
    return op["where"](mask, self + values if accumulate else values, self)


def _to_places(mask, values):
    """values[i] at the i-th place where the mask is true. If the numbers of values and of such places differ, an index is out of range,
    which is an error."""
    count = values.shape[0]
    numbers = op["cumsum"](op["to"](op["reshape"](mask, [-1]), _thunder.int64), 0) - 1
    there = op["reshape"](mask, [-1])
    last = op["sum"](op["to"](there, _thunder.int64)) - 1
    wrong = op["where"](op["eq"](last, count - 1), 0, count)
    places = op["where"](there, numbers, 0) + wrong
    return op["reshape"](op["index_select"](values, 0, places), [*mask.shape, *values.shape[1:]])


@row("scatter.src", "scatter.value")
def scatter(self, dim, index, src):
    return op["scatter"](self, dim, index, src)


@row("scatter.reduce", "scatter.value_reduce")
def scatter_by(self, dim, index, src, reduce):
    return op["scatter"](self, dim, index, src, reduce)


@row("scatter_add")
def scatter_add(self, dim, index, src):
    return op["scatter_add"](self, dim, index, src)


@row("scatter_reduce")
def scatter_reduce(self, dim, index, src, reduce, include_self=True):
    return op["scatter_reduce"](self, dim, index, src, reduce, include_self)


@row("index_fill")
def index_fill(self, dim, index, value):
    return op["index_fill"](self, dim, index, value)


@row("masked_scatter")
def masked_scatter(self, mask, source):
    return op["masked_scatter"](self, mask, source)


@row("embedding")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return op["embedding"](indices, weight)


@row("embedding_dense_backward")
def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    if scale_grad_by_freq:
        raise NotImplementedError("scale_grad_by_freq=True: build the embedding without it")
    width = grad_output.shape[-1]
    if padding_idx >= 0:
        grad_output = op["where"](op["unsqueeze"](op["ne"](indices, padding_idx), -1), grad_output, 0)
    zeros = op["zeros"]([num_weights, width], grad_output.dtype, grad_output.device)
    return op["index_add"](zeros, 0, op["reshape"](indices, [-1]), op["reshape"](grad_output, [-1, width]))


@row("bucketize.Tensor")
def bucketize(self, boundaries, out_int32=False, right=False):
    return op["bucketize"](self, boundaries, right, out_int32)


@row("searchsorted.Tensor")
def searchsorted(sorted_sequence, self, out_int32=False, right=False, side=None, sorter=None):
    return op["searchsorted"](sorted_sequence, self, right, out_int32, side, sorter)


@row("index_reduce")
def index_reduce(self, dim, index, source, reduce, include_self=True):
    dim = dim % max(self.ndim, 1)
    where = op["reshape"](index, [-1 if d == dim else 1 for d in range(self.ndim)])
    return op["scatter_reduce"](self, dim, op["expand"](where, list(source.shape)), source, reduce, include_self)


@row("put")
def put(self, index, source, accumulate=False):
    flat = op["index_put"](op["reshape"](self, [-1]), [op["reshape"](index, [-1])], op["reshape"](source, [-1]), accumulate)
    return op["reshape"](flat, list(self.shape))


@row("nonzero_static")
def nonzero_static(self, size, fill_value=-1):
    return op["nonzero_static"](self, size, fill_value)


@row("_embedding_bag_forward_only")
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=-1):
    made = op["embedding_bag"](indices, weight, offsets, mode=("sum", "mean", "max")[mode], per_sample_weights=per_sample_weights,
                               include_last_offset=include_last_offset, padding_idx=None if padding_idx < 0 else padding_idx)
    return made, None, None, None
