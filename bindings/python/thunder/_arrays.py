"""Arrays of numpy in a function that is traced. Elements of those that were there before are read at each call, or compared; an array that
the function itself makes is read when a tensor is made of it, since nothing else of it is left at a call."""
import collections
import sys
import threading
import weakref
import zlib

import numpy

from . import _array_reads, _thunder

_active = threading.local()


def _owner(array):
    """The array whose memory a view of numpy's shows."""
    while isinstance(getattr(array, "base", None), numpy.ndarray):
        array = array.base
    return array


def _references(thing):
    return sys.getrefcount(thing)


_OF_COUNTING = [_references(thing) for thing in [object()]][0] - 1


def _held_elsewhere(own):
    """The arrays of a list of the caller's, who has each once more beside it, that others have as well, or whose memory they have."""
    counts = collections.Counter(id(array) for array in own for _ in range(2))
    views = {id(array): array for array in own if array is not _owner(array)}
    owners = [_owner(array) for array in views.values()]
    counts.update(id(array) for array in views.values())
    counts.update(id(owner) for owner in owners for _ in range(2))  # in this list, and of the view
    shared = {id(thing) for things in (owners, own) for thing in things if _references(thing) - _OF_COUNTING > counts[id(thing)]}
    return [array for array in own if id(array) in shared or id(_owner(array)) in shared or getattr(_owner(array), "base", None) is not None]


def _digest(array):
    return zlib.crc32(array if array.flags.c_contiguous else array.tobytes())


def _is_written(array):
    """Whether the function that is traced has written into its memory by way of a tensor."""
    try:
        memoryview(_thunder.share(array))
    except _thunder.Error as error:
        if "while it is traced" in str(error):
            return True
        raise
    except (TypeError, ValueError, BufferError):
        pass  # no tensor shares its memory
    return False


class Reading:
    """`known`: id -> (array, label) of those that were there before. While it is entered, this thread asks it of each array that is read."""

    def __init__(self, known):
        self._known, self._owners = known, {id(_owner(array)) for array, _ in known.values()}
        self._live, self._copied, self._shown = [], [], []
        self._numbers, self._exported = {}, {}  # id -> a tensor that was there before, of which elements were read
        self._digests = [(array, label, _digest(array)) for array, label in known.values()]
        self.watch = _array_reads.Watch(self._known_owner)
        self._made = weakref.WeakValueDictionary()  # id -> a tensor that was made of data of the host

    def __enter__(self):
        self._before = _thunder.set_array_reader(self), getattr(_active, "reading", None)
        _active.reading = self
        return self

    def __exit__(self, *_):
        _thunder.set_array_reader(self._before[0])
        _active.reading = self._before[1]

    def _known_owner(self, value):
        key = id(_owner(value)) if isinstance(value, numpy.ndarray) else None
        return key if key in self._owners else None

    def __call__(self, array, usable):
        """Whether the trace copies it. usable: whether a tensor can be over its memory."""
        is_known = usable and id(_owner(array)) in self._owners
        if is_known:
            self.watch.take(array)
        (self._live if is_known else self._copied).append(array)
        return not is_known

    def read(self, tensor, shown):
        """Elements of a tensor are read as numbers; or shown to numpy, which may look at them later."""
        if not self.is_made(tensor):
            (self._exported if shown else self._numbers)[id(tensor)] = tensor

    def lend(self, array, tensor):
        """The tensor that stands for the memory of an array: where that is the function's own, nothing is written by way of it."""
        if isinstance(array, (numpy.ndarray, _thunder.Tensor)) and id(_owner(array)) in self._owners or tensor is array:
            return tensor
        if isinstance(array, numpy.ndarray):
            self._shown.append((array, array.copy()))
        tensor = _thunder.read_only(tensor)
        self.note(tensor)
        return tensor

    def note(self, tensor):
        self._made[id(tensor)] = tensor

    def is_made(self, tensor):
        return self._made.get(id(tensor)) is tensor

    def survive(self, known):
        """Whether tensors that the function made are still there, beside these: then in cycles, or kept."""
        known = set(map(id, known))
        return any(key not in known for key in self._made.keys())

    def places(self):
        """(array, label) of those whose elements are constants of the trace, though somebody else has them."""
        live = {id(_owner(array)) for array in self._live} - set(self.watch.found)
        found = [(array, label) for array, label in self._known.values() if id(_owner(array)) not in live]
        self._refuse_written(found)
        exported = [(tensor, "a tensor") for tensor in self._exported.values()]
        self._refuse_written(exported)
        own = [*self._copied, *(array for array, _ in self._shown)]
        return (found + exported + [(tensor, "a tensor") for tensor in self._numbers.values()]
                + [(array, "an array") for array in _held_elsewhere(own)])

    def _refuse_written(self, read):
        """What numpy reads of an array that the function itself writes, by way of a tensor, is what was there before the call."""
        for array, label in read:
            if _is_written(array):
                where = self.watch.found.get(id(_owner(array)))
                raise TypeError(f"numpy reads elements of {label}{f' at {where}' if where else ''} in a compiled function that writes into its memory "
                                "by way of a tensor: numpy runs once, before the program, and would see what was there; read the tensor by ops "
                                "instead, or compile it with fullgraph = false")

    def check(self):
        """Tensors over the memory of arrays would show what numpy wrote there meanwhile."""
        for array, label, before in self._digests:
            if _digest(array) != before:
                raise TypeError(f"{label}, an array of numpy, was written in a compiled function, which runs once, when it is traced, and not at each "
                                "call: write it outside, or compile it with fullgraph = false")
        for array, before in self._shown:
            if array.tobytes() != before.tobytes():
                raise TypeError("an array was written after from_numpy() or asarray() gave a tensor over its memory, in a compiled function, whose "
                                "program would not see that: write first, or take thunder.tensor(array), a copy")


def _reading():
    return getattr(_active, "reading", None) if _thunder.is_tracing() else None


def lend(array, tensor):
    """What from_numpy() and its kin give."""
    reading = _reading()
    return tensor if reading is None else reading.lend(array, tensor)


def copies(array):
    """Whether a trace copies its elements, where there is one; else they are read at each call."""
    copied = not _thunder.is_tracing() or _thunder.copies_array(array)
    reading = None if copied else _reading()
    if reading is not None:
        reading.watch.take(array, count=1)  # only asked about as yet
    return copied


def made(tensor):
    """A tensor of data of the host, each call of a traced function has its own."""
    reading = _reading()
    if reading is not None:
        reading.note(tensor)
    return tensor


def is_made(tensor):
    reading = getattr(_active, "reading", None)
    return reading is not None and reading.is_made(tensor)
