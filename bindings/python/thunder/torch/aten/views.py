"""Views. A trace of ours is functional: they are values, which the plan puts into the memory of what they show."""
import itertools
import math

import torch

from ... import _create, _sizes, _thunder
from .. import _private
from .._rows import note, op, row, same

note("_reshape_alias", "chunk", view="part")
note("view_as_real", "view_as_complex", "_conj", "_neg_view", view="bits")
same("permute unsqueeze", view="part")
same("detach", view="part", ends_gradient=True)
same("permute_copy=permute unsqueeze_copy=unsqueeze detach_copy=detach")


@row("view.dtype", view="bits")
@row("view_copy.dtype")
def view_as(self, dtype):
    return self if dtype is self.dtype else op["view_dtype"](self, dtype)


@row("view", view="part")
@row("_unsafe_view", view="new", always=True)
@row("reshape", "view_copy", "_reshape_copy")
def view(self, size):
    return op["reshape"](self, size)


@row("transpose.int", view="part")
@row("transpose_copy.int")
def transpose(self, dim0, dim1):
    return op["transpose"](self, dim0, dim1)


@row("t", view="part")
@row("t_copy")
def t(self):
    return self if self.ndim < 2 else op["transpose"](self, 0, 1)


@row("expand", view="part")
@row("expand_copy")
def expand(self, size, implicit=False):
    return op["expand"](self, size)


@row("squeeze", view="part")
@row("squeeze_copy")
def squeeze(self, dim=None):
    return op["squeeze"](self, [dim] if isinstance(dim, int) else dim)


@row("slice.Tensor", view="part")
@row("slice_copy.Tensor")
def slice_(self, dim=0, start=None, end=None, step=1):
    return op["slice"](self, dim, start, end, step)


@row("select.int", view="part")
@row("select_copy.int")
def select(self, dim, index):
    return op["select"](self, dim, index)


@row("alias", view="part")
@row("lift_fresh", "lift", "alias_copy")
def alias(self):
    return op["permute"](self, list(range(self.ndim)))


def left_by_empty(dtype):
    """What stands in memory that torch leaves as it was: zeros, or what it fills it with where results are to be deterministic."""
    if not (torch.are_deterministic_algorithms_enabled() and torch.utils.deterministic.fill_uninitialized_memory):
        return 0
    return float("nan") if dtype.is_floating_point else True if dtype is torch.bool else torch.iinfo(dtype).max


# ---- strides of one's own ----

def order_of(strides, sizes):
    """The dims from the outermost to the innermost in memory; those of size 1 stay where they are among the others."""
    hints = [_private.size_hint(stride) for stride in strides]
    return sorted(range(len(hints)), key=lambda d: (-hints[d], d))


def is_dense(sizes, strides):
    """Whether dims in this order lie in memory without gaps."""
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def lies_dense(fake):
    """Whether a tensor's elements lie without gaps, for the sizes that were seen."""
    sizes, strides = ([_private.size_hint(one) for one in list_] for list_ in (fake.shape, fake.stride()))
    order = order_of(strides, sizes)
    return is_dense([sizes[d] for d in order], [strides[d] for d in order])


def _in_memory(value, fake):
    """The elements as a vector in the order of torch's memory, and where each dim of it is; None where there are gaps."""
    order = order_of(fake.stride(), fake.shape)
    if not is_dense([fake.shape[d] for d in order], [fake.stride(d) for d in order]):
        return None
    return op["reshape"](op["permute"](value, order), [-1]), order


def _places(size, stride, offset, like):
    """Where each element lies, row by row; of sizes that stand for any by formula."""
    if not any(map(_sizes.is_symbol, [*size, *stride, offset])):
        places = [offset + sum(i * s for i, s in zip(at, stride)) for at in itertools.product(*map(range, size))]
        return op["to"](_create.tensor(places, _thunder.int64), None, like.device)
    made = op["full"]([], offset, _thunder.int64, like.device)
    for dim, (count, step) in enumerate(zip(size, stride)):
        numbers = op["mul"](op["arange"](0, count, 1, _thunder.int64, like.device), step)
        made = op["add"](made, op["reshape"](numbers, [count] + [1] * (len(size) - dim - 1)))
    return op["reshape"](made, [-1])


def _as_permuted(flat, size, stride, offset):
    """Where the strides ask for all elements, each once, in another order: that. None where they do not."""
    order = order_of(stride, size)
    sizes = [size[d] for d in order]
    count = 1
    for s in sizes:
        count *= s
    if offset or count != flat.shape[0] or not is_dense(sizes, [stride[d] for d in order]):
        return None
    return op["permute"](op["reshape"](flat, sizes), sorted(range(len(order)), key=order.__getitem__))


def _flat(fake, self):
    """Its memory, which starts where torch's tensor starts: one that starts inside another's memory is refused."""
    found = _in_memory(self, fake)
    if found is None:
        raise NotImplementedError(f"strides {tuple(fake.stride())} of shape {tuple(fake.shape)} leave gaps: call .contiguous() first")
    return found, _private.size_hint(fake.storage_offset())


@row("as_strided", view="bits", memory="places")
@row("as_strided_copy", memory="places", always=True)
def as_strided(fake, self, size, stride, storage_offset=None):
    (flat, _), start = _flat(fake, self)
    offset = 0 if storage_offset is None else storage_offset - start
    made = _as_permuted(flat, size, stride, offset)
    if made is None:
        index = op["reshape"](_places(size, stride, offset, flat), list(size))
        made = op["index"](flat, [index])
    return made


@row("as_strided_scatter", memory="places", always=True)
def as_strided_scatter(fake, self, src, size, stride, storage_offset=None):
    (flat, order), start = _flat(fake, self)
    index = _places(size, stride, 0 if storage_offset is None else storage_offset - start, flat)
    written = op["index_put"](flat, [index], op["reshape"](src, [-1]))
    sizes = [self.shape[d] for d in order]
    return op["permute"](op["reshape"](written, sizes), sorted(range(len(order)), key=order.__getitem__))


@row("resize", "resize_as", results=True, memory="order")
def resize(like, fake, self, size, memory_format=None):
    """The first elements of its memory, of a copy that lies as it does, in the order in which the result lies; what is new is as `empty` leaves it."""
    (flat, _), _ = _flat(fake, self)
    order, sizes = order_of(like.stride(), like.shape), [int(one) for one in like.shape]
    count, have = math.prod(sizes), int(flat.shape[0])
    if count > have:
        flat = op["cat"]([flat, op["full"]([count - have], left_by_empty(like.dtype), self.dtype, self.device)])
    made = op["reshape"](op["slice"](flat, 0, 0, count), [sizes[d] for d in order])
    return op["permute"](made, sorted(range(len(order)), key=order.__getitem__))
