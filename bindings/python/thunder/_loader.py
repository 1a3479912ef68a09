"""The loader of batches: one pass through it is an epoch."""
import collections
import multiprocessing
import threading
import typing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

from . import _ops, data
from ._thunder import Tensor
from ._generator import seed_of
from ._datasets import (BatchSampler, IterableDataset, RandomSampler, SequentialSampler, TensorDataset, batched, count_batches,
                        default_collate)

_worker = threading.local()  # of a worker: the dataset, how a batch is made, what get_worker_info() says


class WorkerInfo(typing.NamedTuple):
    """Which of a loader's workers runs."""
    id: int
    num_workers: int
    seed: int
    dataset: object


class _Numbers:
    """What multiprocessing.Value is for processes, for threads."""

    def __init__(self):
        self.value, self._lock = 0, threading.Lock()

    def get_lock(self):
        return self._lock


def get_worker_info():
    """Of a DataLoader's worker, in a dataset's __getitem__ or in worker_init_fn: its id, num_workers, seed and dataset; elsewhere None. An
    IterableDataset is read by one thread, which is none: there is nothing to share out."""
    return getattr(_worker, "info", None)


def _start(dataset, collate_fn, worker_init_fn, numbers, count, seed):
    """Begins a worker."""
    with numbers.get_lock():
        number = numbers.value
        numbers.value += 1
    _worker.dataset, _worker.collate_fn = dataset, collate_fn
    _worker.info = WorkerInfo(number, count, seed + number, dataset)
    if worker_init_fn is not None:
        worker_init_fn(number)


def _fetch(indices):
    return _worker.collate_fn([_worker.dataset[index] for index in indices])


class _Epoch:
    """Its batches; errors of a dataset come out without lines of ours."""

    def __init__(self, batches):
        self._batches = iter(batches)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._batches)


class DataLoader:
    """Batches of a dataset: samples by number, as lists and Dataset have them, or one after the other, as IterableDataset.

    num_workers threads collect batches ahead; with multiprocessing_context ("spawn", "fork" ...) they are processes, to which
    the dataset is pickled. The order of shuffle depends on thunder.seed(), or on a seed as generator. With a device the tensors of
    a batch are there, and the next batch is made and copied while one is used; pin_memory is taken and needs nothing: such copies
    go through pinned memory. A last batch that is smaller makes compiled functions compile once more: drop_last.
    """

    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=2, persistent_workers=False, device=None):
        self.dataset, self.num_workers, self.collate_fn = dataset, num_workers, collate_fn or (default_collate if batch_size else _one)
        self.batch_size, self.drop_last, self.pin_memory, self.timeout = batch_size, drop_last, pin_memory, timeout or None
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.prefetch_factor, self.persistent_workers, self.device = prefetch_factor, persistent_workers, device
        self._check(shuffle, sampler, batch_sampler)
        iterable = isinstance(dataset, IterableDataset)
        if not iterable and sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        self.batch_sampler = batch_sampler or (None if iterable or not batch_size else BatchSampler(sampler, batch_size, drop_last))
        self._rows = None
        plain = type(dataset) is TensorDataset and collate_fn is None and batch_sampler is None and batch_size
        if plain and type(sampler) in (SequentialSampler, RandomSampler):
            seed = seed_of(generator)
            self._rows = data.batches(list(dataset.tensors), batch_size, shuffle, drop_last, seed, device)

    def _check(self, shuffle, sampler, batch_sampler):
        given = [name for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)) if value]
        if len(given) > 1 or (given and isinstance(self.dataset, IterableDataset)):
            raise ValueError(f"DataLoader: {' and '.join(given)} cannot be given together, nor for an IterableDataset")
        if batch_sampler and (self.batch_size != 1 or self.drop_last):
            raise ValueError("DataLoader: a batch_sampler decides on batch_size and drop_last; give them to it")
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"DataLoader: batch_size must be at least 1, or None for samples alone, got {self.batch_size}")
        if self.num_workers < 0:
            raise ValueError(f"DataLoader: num_workers must be at least 0, got {self.num_workers}")
        if not isinstance(self.dataset, IterableDataset) and not (hasattr(self.dataset, "__getitem__") and hasattr(self.dataset, "__len__")):
            raise TypeError(f"DataLoader: a dataset has __getitem__ and __len__, or is an IterableDataset; {type(self.dataset).__name__} has not")

    def __len__(self):
        """Batches in an epoch."""
        if isinstance(self.dataset, IterableDataset):
            return count_batches(len(self.dataset), self.batch_size or 1, self.drop_last)
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)

    def __iter__(self):
        return _Epoch(self._batches())

    def _batches(self):
        if self._rows is not None:
            return ([*batch] for batch in self._rows)
        made = self._on_the_host()
        return made if self.device is None else self._ahead(_moved(batch, self.device) for batch in made)

    def _on_the_host(self):
        if isinstance(self.dataset, IterableDataset):
            return self._ahead(self._stream()) if self.num_workers else self._stream()
        indices = self.batch_sampler if self.batch_sampler is not None else ([index] for index in self.sampler)
        if self.num_workers:
            return self._collected(indices)
        return (self.collate_fn([self.dataset[index] for index in some]) for some in indices)

    def __repr__(self):
        return f"<DataLoader of {type(self.dataset).__name__}, batch_size {self.batch_size}>"

    def _stream(self):
        if not self.batch_size:
            return (self.collate_fn([sample]) for sample in self.dataset)
        return map(self.collate_fn, batched(self.dataset, self.batch_size, self.drop_last))

    # ---- workers ----

    def _pool(self):
        context = self.multiprocessing_context
        if isinstance(context, str):
            context = multiprocessing.get_context(context)
        numbers = _Numbers() if context is None else context.Value("i", 0)
        given = (self.dataset, self.collate_fn, self.worker_init_fn, numbers, self.num_workers, _ops.functions["randint"](0, 2 ** 31 - 1, [1]).item())
        if context is None:
            return ThreadPoolExecutor(self.num_workers, "DataLoader", initializer=_start, initargs=given)
        return ProcessPoolExecutor(self.num_workers, context, initializer=_start, initargs=given)

    def _collected(self, indices):
        """Batches in order, some of them made ahead. An error of a worker comes out here, as itself."""
        with self._pool() as pool:
            waiting, rest = collections.deque(), iter(indices)
            try:
                for some in rest:
                    waiting.append(pool.submit(_fetch, some))
                    if len(waiting) >= self.num_workers * (self.prefetch_factor or 2):
                        yield waiting.popleft().result(self.timeout)
                while waiting:
                    yield waiting.popleft().result(self.timeout)
            finally:
                for future in waiting:
                    future.cancel()

    def _ahead(self, stream):
        """What a stream gives, made by one thread while the last one is used: it has one order only."""
        with ThreadPoolExecutor(1, "DataLoader") as pool:
            end = object()
            coming = pool.submit(next, stream, end)
            while (batch := coming.result(self.timeout)) is not end:
                coming = pool.submit(next, stream, end)
                yield batch


def _moved(batch, device):
    """A batch with its tensors on a device, in the lists, tuples and dicts that it is made of."""
    if isinstance(batch, Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return type(batch)({name: _moved(part, device) for name, part in batch.items()})
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_moved(part, device) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_moved(part, device) for part in batch)
    return batch


def _one(samples):
    """Without a batch_size: the sample as it is."""
    return samples[0]
