"""The executors torch, for traces of ours, and inductor: PyTorch's ops by our lines, one by one, or compiled by Inductor as a region."""
import torch

from .. import _backends, _extend, _thunder
from . import _by_name, _lines, _private

_NO_CODE = {}  # of kernels for devices


def _stored(function):
    """As the library calls an executor's function: with the tensors that it reads, and those to be filled."""
    def run(inputs, outputs, stream):
        with torch.no_grad(), _lines.on(stream):
            for out, made in zip(outputs, function(*inputs)):
                out.copy_(made)
    return run


class _Lines(_extend.Executor):
    """Runs each line that has a name of PyTorch's; views are values of the plan."""

    def __new__(cls):
        names = dict.fromkeys(_by_name.names())
        made = _thunder.Executor.__new__(cls, _lines.EXECUTOR, names, False, _NO_CODE, _lines.FLAGS)
        made.name, made._entries = _lines.EXECUTOR, names
        return made

    def _claim(self, fields):
        return _by_name.call_of(_extend.Node(*fields)) is not None

    def _prepare(self, fields):
        return fields[0], _stored(_by_name.call_of(_extend.Node(*fields))), _lines.exchange

    def _transform(self, fields, args):
        return None


class _Regions(_extend.Executor):
    """Takes what PyTorch has of a trace as regions, which Inductor compiles when they first run."""

    def __new__(cls, name):
        made = _thunder.Executor.__new__(cls, name, None, True, _NO_CODE, _lines.FLAGS)
        made.name, made._entries = name, {}
        return made

    def _claim(self, fields):
        return _by_name.call_of(_extend.Node(*fields)) is not None

    def _claim_region(self, lines):
        return list(range(len(lines)))

    def _prepare(self, fields):
        region = _extend.Node(*fields)
        return region.op, _stored(_Region(region)), _lines.exchange

    def _transform(self, fields, args):
        return None


class _Region:
    """A region's lines as one function of PyTorch's tensors, compiled for the first arguments: their types are the region's."""

    def __init__(self, region):
        self.region, self.compiled = region, None
        lines = region.lines or (region,)
        self.calls = [(line, _by_name.call_of(line)) for line in lines]

    def lines(self, *inputs):
        values = dict(zip(self.region.input_values, inputs))
        for line, call in self.calls:
            read = [values.get(number) for given, number in zip(line.inputs, line.input_values) if given is None or number is not None]
            values.update(zip(line.output_values, call(*read)))
        return tuple(values[number] for number in self.region.output_values)

    def __call__(self, *inputs):
        if self.compiled is None:
            self.compiled = _private.inductor(self.lines, inputs)
        return self.compiled(*inputs)


_named = {_lines.EXECUTOR: _Lines(), **{name: _Regions(name) for name in ("inductor", "torchcompile")}}
by_name = _named.__getitem__
_backends.add("inductor", "What PyTorch has ops for is compiled by Inductor, as regions; the rest runs as without a backend.", [by_name("inductor")])
