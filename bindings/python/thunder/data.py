"""Files of arrays, splits and shuffled batches."""
from . import _ops
from ._tensor import asarray
from ._thunder import BatchesBase, Tensor
from ._thunder import read_csv as csv
from ._thunder import read_idx as idx
from ._thunder import read_npy as npy
from ._thunder import read_safetensors as safetensors
from ._thunder import write_npy as save_npy
from ._thunder import write_safetensors as save

__all__ = ["csv", "npy", "idx", "safetensors", "save", "save_npy", "batches", "split"]


class batches(BatchesBase):
    """for x, y in batches([x, y], size=32, shuffle=True): ... is one epoch, in an order of its own.

    The sources are tensors or arrays with equal first sizes. The order depends on seed, epoch and number of rows alone.
    """

    def __new__(cls, sources, size=1, shuffle=False, drop_last=False, seed=0):
        single = isinstance(sources, Tensor) or not isinstance(sources, (list, tuple))
        tensors = [asarray(source) for source in ([sources] if single else sources)]
        made = BatchesBase.__new__(cls, tensors, size, shuffle, drop_last, seed)
        made._single = single
        return made

    def __iter__(self):
        while batch := self._next():
            yield batch[0] if self._single else tuple(batch)

    def __len__(self):
        """Batches in an epoch."""
        return self._count()

    def __repr__(self):
        return f"<batches: {len(self)} in an epoch>"


def split(tensors, part, seed=0):
    """Two tuples of tensors: all rows but a part, and that part, drawn at random from `seed`."""
    tensors = [asarray(tensor) for tensor in tensors]
    rows = tensors[0].shape[0]
    held_out = int(rows * part + 0.5)
    shuffled = next(iter(batches(tensors, rows, shuffle=True, seed=seed)))
    contiguous = _ops.functions["contiguous"]
    return (tuple(contiguous(tensor[held_out:]) for tensor in shuffled),
            tuple(contiguous(tensor[:held_out]) for tensor in shuffled))
