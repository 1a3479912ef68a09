"""Files of arrays, splits and shuffled batches."""
import os

from . import _nested, _ops, _thunder
from ._create import asarray, is_array, tensor
from ._thunder import BatchesBase, ModuleBase, Tensor
from ._thunder import read_csv as csv
from ._thunder import read_idx as idx
from ._thunder import read_npy as npy
from ._thunder import write_npy as save_npy

__all__ = ["csv", "npy", "idx", "safetensors", "save", "save_npy", "batches", "split"]


def safetensors(path, map_location=None, weights_only=True):
    """The tensors of a file, by name, or what save() was given; map_location: a device for them. Files of torch.save() hold Python's objects and are not
    read; weights_only is taken as PyTorch's word for what this does anyway."""
    try:
        tensors = _thunder.read_safetensors(path)
    except _thunder.Error as error:
        if _is_pickled(path):
            raise ValueError(f"load: {path} was written by torch.save(); write it with safetensors.torch.save_file(net.state_dict(), path) "
                             "where PyTorch is, and load that") from None
        raise error
    if map_location is not None:
        tensors = {name: tensor if name == _nested.NAME else tensor.to(map_location) for name, tensor in tensors.items()}
    return _nested.as_it_was(tensors)


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
    """Writes a dict of tensors as safetensors; the old file stays whole until the new one is.

    Its values may be dicts and lists of tensors as well, and numbers, strings and None: a checkpoint {"model": net.state_dict(),
    "epoch": 3}. Tensors inside are named by their path, "model.0.weight", and one tensor of text says how it was, for load().
    """
    if isinstance(tensors, ModuleBase):
        raise TypeError("save: a module is saved by net.save(path), or as save(net.state_dict(), path)")
    if not isinstance(tensors, dict):
        raise TypeError(f"save: a dict of tensors by name was expected, not {type(tensors).__name__}; one tensor is save({{'x': x}}, path)")
    _thunder.write_safetensors(_nested.flat(tensors), path)


class batches:
    """for x, y in batches([x, y], size=32, shuffle=True): ... is one epoch, in an order of its own.

    Each `for` and each iter() is an epoch of its own, also where an earlier one was left by break or goes on. The sources are tensors or
    arrays with equal first sizes. The order depends on seed, epoch and number of rows alone. With a device batches are there: while one
    is used, the next is copied, so that the sources must not be written meanwhile.
    """

    def __init__(self, sources, size=1, shuffle=False, drop_last=False, seed=0, device=None):
        self._single = isinstance(sources, Tensor) or not isinstance(sources, (list, tuple))
        tensors = [asarray(source) for source in ([sources] if self._single else sources)]
        self._made_of = (tensors, size, shuffle, drop_last, seed)
        self._device = device
        self._rows = self._new_rows()  # of the epoch that began last
        self._epoch = 0                # which that is
        self._is_begun = False         # false: the next one is it

    def _new_rows(self):
        made = BatchesBase(*self._made_of)
        if self._device is not None:
            made._set_device(self._device)
        return made

    def _begin(self):
        """The rows of an epoch that nobody reads yet."""
        if self._is_begun:
            seed, _, _, rows = self._rows.state().tolist()
            self._rows = self._new_rows()
            self._rows.set_state(tensor([seed, self._epoch, 0, rows]))
        self._is_begun = True
        self._epoch += 1
        return self._rows

    def __iter__(self):
        return self._read(self._begin())

    def _read(self, rows):
        while batch := rows.next():
            yield batch[0] if self._single else tuple(batch)
        if rows is self._rows:  # it stands at the next epoch
            self._is_begun = False

    def __len__(self):
        """Batches in an epoch."""
        return self._rows.size()

    def state(self):
        """The position of the epoch that began last, as a tensor: set_state() resumes exactly there."""
        return self._rows.state()

    def set_state(self, state):
        """Goes to a position that state() gave: the next epoch goes on from there."""
        rows = self._new_rows()
        rows.set_state(state)
        self._rows, self._is_begun, self._epoch = rows, False, state.tolist()[1]

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
