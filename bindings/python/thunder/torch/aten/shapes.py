"""Tensors put together, repeated, padded and cut, and the gradients of cutting."""
import sys

from ... import _thunder
from .._rows import op, row, same, type_of, vjp

same("unfold diagonal", view="part")
same("flip triu tril movedim unfold_copy=unfold diagonal_copy=diagonal narrow_copy=narrow")


@row("cat")
def cat(tensors, dim=0):
    """Empty vectors among tensors of more dims are left out, as torch has always done."""
    rank = max(t.ndim for t in tensors)
    return op["cat"]([t for t in tensors if t.ndim == rank], dim)


@row("stack")
def stack(tensors, dim=0):
    return op["stack"](tensors, dim)


@row("roll")
def roll(self, shifts, dims=()):
    return op["roll"](self, list(shifts), list(dims) or None)


@row("repeat")
def repeat(self, repeats):
    return op["repeat"](self, repeats)


@row("constant_pad_nd")
def constant_pad_nd(self, pad, value=0):
    return op["pad"](self, pad, "constant", float(value)) if pad else op["clone"](self)


@row("split.Tensor", "split_with_sizes", view="part")
@row("unsafe_split", "unsafe_split_with_sizes")
def split(self, split_size, dim=0):
    return op["split"](self, split_size, dim)


@row("unbind", view="part")
@row("unbind_copy")
def unbind(self, dim=0):
    return op["unbind"](self, dim)


@row("slice_scatter")
def slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    return op["slice_scatter"](self, src, dim, start, end, step)


@row("select_scatter")
def select_scatter(self, src, dim, index):
    return op["select_scatter"](self, src, dim, index)


@row("diagonal_scatter")
def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    order = [dim1 % self.ndim, dim2 % self.ndim]
    order += [dim for dim in range(self.ndim) if dim not in order]
    places = op["arange"](0, src.shape[-1], 1, _thunder.int64, self.device)
    rows, columns = places + max(-offset, 0), places + max(offset, 0)
    values = op["permute"](src, [src.ndim - 1, *range(src.ndim - 1)])
    made = op["index_put"](op["permute"](self, order), [rows, columns], values)
    return op["permute"](made, sorted(range(self.ndim), key=order.__getitem__))


def _zeros(sizes, like):
    return op["zeros"](list(sizes), like.dtype, like.device)


@row("slice_backward")
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    if start == 0 and step == 1 and isinstance(end, int) and end == sys.maxsize:
        return grad_output  # of all of it, whatever the size
    return op["slice_scatter"](_zeros(input_sizes, grad_output), grad_output, dim, start, end, step)


@row("select_backward")
def select_backward(grad_output, input_sizes, dim, index):
    return op["select_scatter"](_zeros(input_sizes, grad_output), grad_output, dim, index)


@row("tril_indices", results=True)
def tril_indices(like, row, col, offset=0, **kind):
    return op["tril_indices"](row, col, offset, *type_of(like))


@row("triu_indices", results=True)
def triu_indices(like, row, col, offset=0, **kind):
    return op["triu_indices"](row, col, offset, *type_of(like))


# ---- pads that take what is there ----

def _padded(rank, name, mode):
    def pad(self, padding):
        return op["pad"](self, padding, mode)

    def backward(grad_output, self, padding):
        return vjp(lambda x: op["pad"](x, padding, mode), (self,), grad_output)[0]
    row(f"{name}_pad{rank}d")(pad)
    row(f"{name}_pad{rank}d_backward")(backward)


for _rank in (1, 2, 3):
    _padded(_rank, "reflection", "reflect")
    _padded(_rank, "replication", "replicate")
