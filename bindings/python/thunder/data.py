"""Files of arrays, splits and shuffled batches."""
import os

from . import _ops, _thunder
from ._tensor import asarray, is_array
from ._thunder import BatchesBase, ModuleBase, Tensor
from ._thunder import read_csv as csv
from ._thunder import read_idx as idx
from ._thunder import read_npy as npy
from ._thunder import write_npy as save_npy

__all__ = ["csv", "npy", "idx", "safetensors", "save", "save_npy", "batches", "split"]


def safetensors(path, map_location=None, weights_only=True):
    """The tensors of a file, by name; map_location: a device for them. Files of torch.save() hold Python's objects and are not
    read; weights_only is taken as PyTorch's word for what this does anyway."""
    try:
        tensors = _thunder.read_safetensors(path)
    except _thunder.Error as error:
        if _is_pickled(path):
            raise ValueError(f"load: {path} was written by torch.save(); write it with safetensors.torch.save_file(net.state_dict(), path) "
                             "where PyTorch is, and load that") from None
        raise error
    return tensors if map_location is None else {name: tensor.to(map_location) for name, tensor in tensors.items()}


def _is_pickled(path):
    """Whether a file begins as torch.save() writes it: a zip archive, formerly a pickle. What is no file may never end, or never begin."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(2) in (b"PK", b"\x80\x02")
    except OSError:
        return False


def save(tensors, path):
    """Writes a dict of tensors as safetensors; the old file stays whole until the new one is."""
    if isinstance(tensors, ModuleBase):
        raise TypeError("save: a module is saved by net.save(path), or as save(net.state_dict(), path)")
    if not isinstance(tensors, dict):
        raise TypeError(f"save: a dict of tensors by name was expected, not {type(tensors).__name__}; one tensor is save({{'x': x}}, path)")
    for name, value in tensors.items():
        if not isinstance(value, Tensor) and not is_array(value):
            inside = f"; flatten it: {{'{name}.' + key: ...}}" if isinstance(value, dict) else "; a number is thunder.tensor(number)"
            raise TypeError(f"save: {name!r} is {type(value).__name__}, and a file holds tensors alone{inside}")
    _thunder.write_safetensors(tensors, path)


class batches(BatchesBase):
    """for x, y in batches([x, y], size=32, shuffle=True): ... is one epoch, in an order of its own.

    The sources are tensors or arrays with equal first sizes. The order depends on seed, epoch and number of rows alone. With a
    device batches are there: while one is used, the next is copied, so that the sources must not be written meanwhile.
    """

    def __new__(cls, sources, size=1, shuffle=False, drop_last=False, seed=0, device=None):
        single = isinstance(sources, Tensor) or not isinstance(sources, (list, tuple))
        tensors = [asarray(source) for source in ([sources] if single else sources)]
        made = BatchesBase.__new__(cls, tensors, size, shuffle, drop_last, seed)
        made._single = single
        if device is not None:
            made._set_device(device)
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
