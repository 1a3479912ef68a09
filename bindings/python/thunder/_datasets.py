"""Datasets and the loader of their batches: PyTorch's torch.utils.data.

    loader = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True, drop_last=True)
    for x, y in loader: ...     # one epoch

A TensorDataset's batches are the library's own (thunder.data.batches); those of other datasets are collected in Python, by
threads where num_workers says so.
"""
import itertools
import math
from collections.abc import Mapping

import numpy

from . import _ops
from ._create import asarray, is_array
from ._generator import seed_of
from ._thunder import Tensor

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler",
           "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate", "random_split"]

_op = _ops.functions


# ---- datasets ----

class Dataset:
    """Samples by number: derive from it with __getitem__(index) and __len__()."""

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset:
    """Samples one after the other: derive from it with __iter__()."""

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __add__(self, other):
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """The samples of several IterableDatasets, one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        wrong = next((one for one in self.datasets if not isinstance(one, IterableDataset)), None)
        if wrong is not None:
            raise TypeError(f"ChainDataset: takes IterableDatasets, not {type(wrong).__name__}; ConcatDataset takes those with numbers")

    def __iter__(self):
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self):
        return sum(map(len, self.datasets))


class TensorDataset(Dataset):
    """Rows of tensors, or arrays, that have equally many."""

    def __init__(self, *tensors):
        self.tensors = tuple(map(asarray, tensors))
        rows = {tensor.shape[:1] for tensor in self.tensors}
        if len(rows) != 1 or () in rows:
            raise ValueError("TensorDataset: tensors with equal first sizes were expected, not of shapes "
                             f"{[tensor.shape for tensor in self.tensors]}")

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].shape[0]


class Subset(Dataset):
    """The samples of a dataset at some indices."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    """The samples of several datasets, one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: at least one dataset was expected")

    def __getitem__(self, index):
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"ConcatDataset: {index} is out of range: it has {len(self)} samples")
        for dataset in self.datasets:
            if at < len(dataset):
                return dataset[at]
            at -= len(dataset)

    def __len__(self):
        return sum(map(len, self.datasets))


class StackDataset(Dataset):
    """Samples of several datasets side by side: StackDataset(images, texts) gives tuples, StackDataset(image=images, text=texts) dicts."""

    def __init__(self, *args, **named):
        if bool(args) == bool(named):
            raise ValueError("StackDataset: datasets are given by position, for tuples, or by name, for dicts")
        self.datasets = args or named
        lengths = [len(dataset) for dataset in (args or named.values())]
        if len(set(lengths)) > 1:
            raise ValueError(f"StackDataset: the datasets have different lengths, {lengths}")

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self):
        return len(next(iter(self.datasets.values())) if isinstance(self.datasets, dict) else self.datasets[0])


def _generator(seed=None):
    """Of numpy: from a seed, or from the library's random state, which thunder.seed() fixes."""
    return numpy.random.default_rng(seed_of(seed))


def random_split(dataset, lengths, generator=None):
    """Subsets of these lengths, or these fractions, drawn at random; generator: a seed."""
    total = len(dataset)
    if sum(lengths) <= 1 and all(0 <= length <= 1 for length in lengths) and math.isclose(sum(lengths), 1):
        sizes = [math.floor(total * length) for length in lengths]
        for extra in range(total - sum(sizes)):
            sizes[extra % len(sizes)] += 1
        lengths = sizes
    if sum(lengths) != total:
        raise ValueError(f"random_split: the lengths {list(lengths)} add up to {sum(lengths)}; the dataset has {total} samples")
    order, ends = _generator(generator).permutation(total).tolist(), numpy.cumsum(lengths).tolist()
    return [Subset(dataset, order[end - length:end]) for length, end in zip(lengths, ends)]


# ---- samplers ----

class Sampler:
    """Indices of an epoch: derive from it with __iter__() and __len__()."""

    def __init__(self, data_source=None):
        self.data_source = data_source

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")


class SequentialSampler(Sampler):
    """0, 1, 2 ..."""

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """Every index once, in an order drawn anew for each epoch; with replacement as many as num_samples; generator: a seed."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source)
        self.replacement, self._count, self._numbers = replacement, num_samples, _generator(generator)

    def __iter__(self):
        rows = len(self.data_source)
        if self.replacement:
            return iter(self._numbers.integers(0, rows, len(self)).tolist())
        return iter(self._numbers.permutation(rows)[:len(self)].tolist())

    def __len__(self):
        return len(self.data_source) if self._count is None else self._count


class SubsetRandomSampler(Sampler):
    """Each of some indices once, in an order drawn anew for each epoch; generator: a seed."""

    def __init__(self, indices, generator=None):
        super().__init__()
        self.indices, self._numbers = indices, _generator(generator)

    def __iter__(self):
        return iter([self.indices[at] for at in self._numbers.permutation(len(self.indices)).tolist()])

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """num_samples indices, drawn anew for each epoch, each as often as its weight says; without replacement none twice; generator: a
    seed."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        super().__init__()
        weights = numpy.asarray(weights, numpy.float64)
        if weights.ndim != 1 or not numpy.all(numpy.isfinite(weights)) or numpy.any(weights < 0) or not numpy.sum(weights) > 0:
            raise ValueError("WeightedRandomSampler: weights are a list of numbers that are not negative, of which one at least is not 0")
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples <= 0:
            raise ValueError(f"WeightedRandomSampler: num_samples must be a positive integer, got {num_samples!r}")
        if not replacement and num_samples > numpy.count_nonzero(weights):
            raise ValueError(f"WeightedRandomSampler: without replacement at most {numpy.count_nonzero(weights)} can be drawn, those whose weight "
                             f"is not 0; num_samples is {num_samples}")
        self.weights, self.num_samples, self.replacement, self._numbers = weights, num_samples, replacement, _generator(generator)

    def __iter__(self):
        chances = self.weights / numpy.sum(self.weights)
        return iter(self._numbers.choice(len(chances), self.num_samples, self.replacement, chances).tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of indices, batch_size of what a sampler gives in each."""

    def __init__(self, sampler, batch_size, drop_last):
        super().__init__()
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        return batched(self.sampler, self.batch_size, self.drop_last)

    def __len__(self):
        return count_batches(len(self.sampler), self.batch_size, self.drop_last)


def batched(items, size, drop_last):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


def count_batches(rows, size, drop_last):
    return rows // size if drop_last else -(-rows // size)


# ---- batches of samples ----

def default_collate(samples):
    """A batch of samples: tensors, arrays and numbers are stacked, also inside of tuples and dicts; texts stay a list."""
    first = samples[0]
    if isinstance(first, Tensor) or is_array(first):
        return _op["stack"]([sample if isinstance(sample, Tensor) else asarray(sample) for sample in samples])
    if isinstance(first, (bool, int, float, numpy.number, numpy.bool_)):
        return asarray(numpy.asarray(samples))
    if isinstance(first, (str, bytes)):
        return list(samples)
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in samples]) for key in first}
    if isinstance(first, (tuple, list)):
        if len({len(sample) for sample in samples}) > 1:
            raise ValueError(f"default_collate: the samples differ in length: {sorted({len(sample) for sample in samples})}")
        parts = [default_collate(part) for part in zip(*samples)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(f"default_collate: samples are tensors, arrays, numbers, texts, and tuples, lists and dicts of them, not "
                    f"{type(first).__name__}; collate_fn makes a batch of others")
