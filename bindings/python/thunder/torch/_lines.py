"""The executor `torch`: ops that PyTorch runs, as lines of our programs, on the memory that these have planned. It gets the inputs where
they lie and stores the results where they are wanted."""
import contextlib
import math
import weakref

import torch

from .. import _extend, _sizes, _thunder
from . import _private, _symbols
from ._rows import dtype_of, find, op
from .aten.views import order_of

EXECUTOR = "torch"
FLAGS = 1 | 2 | 8  # any strides, on the thread that calls, on CUDA devices too

exchange = _thunder.Exchange(torch.Tensor)
_calls = weakref.WeakValueDictionary()  # by the op of ours and the text that stand in a line
_ops = {}  # by their names
_MOST = 4  # results of an op of ours
_ALIGNED = 16  # elements


def on(stream):
    """Where PyTorch is asked for work: the device's stream of the program, if it has one."""
    return torch.cuda.stream(torch.cuda.ExternalStream(stream)) if stream else contextlib.nullcontext()


class _Slot:
    """Stands for a tensor among a call's arguments."""

    def __init__(self, at, is_complex):
        self.at, self.is_complex = at, is_complex

    def __repr__(self):
        return f"complex(${self.at + 1})" if self.is_complex else f"${self.at + 1}"


def _map(value, function, kind):
    if isinstance(value, kind):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_map(one, function, kind) for one in value) if not hasattr(value, "_fields") else value
    return value


class Result:
    """A tensor that a call gives: its type in the program, in the order in which it lies in memory, and the way back. Complex numbers
    are pairs of real ones."""

    def __init__(self, fake, shape):
        self.is_complex = fake.dtype.is_complex
        self.real = fake.dtype.to_real() if self.is_complex else fake.dtype
        self.dtype = dtype_of(self.real)
        strides = [_private.size_hint(stride) for stride in fake.stride()]
        self.order = order_of([0 if size == 1 else stride for size, stride in zip(shape, strides)], shape)
        self.back = sorted(range(len(self.order)), key=self.order.__getitem__)
        self.type = (self.dtype, tuple(shape[d] for d in self.order) + ((2,) if self.is_complex else ()))

    def store(self, value, out):
        """None: a gradient that was not asked for, which meta functions show as a tensor."""
        if value is None:
            return out.zero_()
        if self.is_complex:
            out = torch.view_as_complex(out)
        return out.permute(self.back).copy_(value)

    def logical(self, value):
        return op["permute"](value, self.back + ([len(self.back)] if self.is_complex else []))

    def __repr__(self):
        turned = "" if self.order == sorted(self.order) else f" in the order {self.order}"
        return f"{self.real}{list(self.type[1])}{turned}".removeprefix("torch.")


class Places:
    """Where the results of a call lie: each in a tensor of its own, or, where an op of ours has no room for so many, as a part of a
    vector that all of a dtype share."""

    def __init__(self, results):
        self.results, self.types, self.parts = results, [result.type for result in results], None
        if len(results) > _MOST:
            lengths = {result.dtype: 0 for result in results}
            self.parts, dtypes = [], list(lengths)
            for result in results:
                start, count = lengths[result.dtype], math.prod(result.type[1])
                lengths[result.dtype] += -(-count // _ALIGNED) * _ALIGNED
                self.parts.append((dtypes.index(result.dtype), start, start + count))
            self.types = [(dtype, (length,)) for dtype, length in lengths.items()]

    def store(self, made, outputs):
        """What torch made, into what the program has planned."""
        if self.parts is not None:
            outputs = [outputs[at][start:end].view(result.type[1]) for result, (at, start, end) in zip(self.results, self.parts)]
        for result, value, out in zip(self.results, made, outputs):
            result.store(value, out)

    def logical(self, made):
        """The results, recorded, of what the line gives."""
        if self.parts is not None:
            made = [op["reshape"](op["slice"](made[at], 0, start, end), list(result.type[1]))
                    for result, (at, start, end) in zip(self.results, self.parts)]
        return [result.logical(one) for result, one in zip(self.results, made)]


class Call:
    """One call of an op of torch's, with everything but its tensors. `numbers`: which of what it gives are the results."""

    def __init__(self, target, args, named, results, numbers):
        self.target, self.args, self.named, self.results, self.places = target, args, named, results, Places(results)
        self.numbers = numbers
        self.name = _name(target, len(results), len(self.places.types))
        self.text = f"{', '.join([*map(repr, args), *(f'{name}={value!r}' for name, value in named.items())])} -> {results!r}"

    def run(self, inputs, outputs, stream):
        def value_of(slot):
            value = inputs[slot.at]
            return torch.view_as_complex(value.contiguous()) if slot.is_complex else value
        with torch.no_grad(), on(stream):
            made = _flat(self.target(*_map(list(self.args), value_of, _Slot), **{k: _map(v, value_of, _Slot) for k, v in self.named.items()}))
            if find(self.target).begins:
                made = [torch.ops._c10d_functional.wait_tensor(one) for one in made]
            self.places.store([made[number] for number in self.numbers], outputs)

    def now(self, inputs):
        """The results of tensors of ours, outside of programs."""
        reals = {result.dtype: result.real for result in self.results}
        outputs = [torch.empty(shape, dtype=reals[dtype]) for dtype, shape in self.places.types]
        self.run([torch.from_dlpack(one) for one in inputs], outputs, 0)
        return tuple(_thunder.from_dlpack(one) for one in outputs)


def resolved(tensor):
    """A tensor whose memory is what its elements are; complex numbers as pairs."""
    tensor = tensor.resolve_conj().resolve_neg()
    return torch.view_as_real(tensor) if tensor.dtype.is_complex else tensor


def _flat(value):
    return value if isinstance(value, (tuple, list)) else (value,)


def _name(target, count, own):
    """Of an overload; by how many tensors of ours stand for a call's results, where that is not what the overload says: of those that
    give lists or many, and of backwards that are told which gradients are wanted."""
    returned = target._schema.returns
    usual = all(isinstance(one.type, torch.TensorType) for one in returned) and len(returned) == count == own
    return "torch." + str(target) + ("" if usual else f".of{own}")


class _Executor(_extend.Executor):
    def __new__(cls):
        names = {}
        made = _thunder.Executor.__new__(cls, EXECUTOR, names, False, {}, FLAGS)
        made.name, made._entries = EXECUTOR, names  # it is asked about these alone
        return made

    def _claim(self, fields):
        return True

    def _prepare(self, fields):
        call = _calls[fields[0], fields[3]["call"]]
        return fields[0], call.run, exchange

    def _transform(self, fields, args):
        return None


executor = _Executor()


def _op(call):
    """The op of ours that stands for such calls; one that draws numbers, asserts or meets other ranks is neither merged nor dropped."""
    name, target, count = call.name, call.target, len(call.places.types)
    if name not in _ops:
        executor._entries[name] = target
        effects = torch.Tag.nondeterministic_seeded in target.tags or find(target).asserts or find(target).begins

        def now(inputs, call):
            return _calls[name, call].now(inputs)
        results = "tensor" if count == 1 else f"({', '.join(['tensor'] * count)})"
        _ops[name] = _extend.op(f"{name}(tensor[] inputs, str call) -> {results}", effects=effects, doc=f"torch.ops.{target}, run by PyTorch.",
                                meta=lambda line: tuple(_calls[name, line.args["call"]].places.types))(now)
    return _ops[name]


def can(node):
    """Whether PyTorch can run a node as a line: it writes none of its arguments, and its results are dense and of known sizes."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or target._schema.is_mutable:
        return False
    memory = find(target).memory  # which in a program is as it has been planned
    read = node.args[0].meta.get("val") if memory else None
    if read is not None and not (read.is_contiguous() and (read.dtype.is_complex or memory == "order")):
        return False
    fakes = [fake for fake in _flat(node.meta.get("val")) if isinstance(fake, torch.Tensor)]
    return 0 < len(fakes) and len({fake.dtype for fake in fakes}) <= _MOST and all(fake.layout is torch.strided and _private.is_known(fake.shape) for fake in fakes)


def record(node, values, count, keep):
    """Records a node as a line for torch, of the values of its arguments. count(size): a size of torch's as a number. keep(call): it must
    live as long as the program."""
    tensors = []

    def argument(one):
        if not isinstance(one, torch.fx.Node):
            return count(one)
        value = values[one]
        fake = one.meta["val"]
        if value is None and isinstance(fake, torch.Tensor):
            raise NotImplementedError(f"it reads a result of {one.target} that our row of that op does not give")
        if not isinstance(value, _thunder.Tensor):
            return float(value) if isinstance(value, _symbols.Real) else int(value) if _sizes.is_symbol(value) else value
        tensors.append(value)
        return _Slot(len(tensors) - 1, isinstance(fake, torch.Tensor) and fake.dtype.is_complex)
    kinds = (torch.fx.Node, torch.SymInt)
    args = _map(list(node.args), argument, kinds)
    named = {name: _map(value, argument, kinds) for name, value in node.kwargs.items()}
    fakes = _flat(node.meta["val"])
    numbers = [number for number, fake in enumerate(fakes) if isinstance(fake, torch.Tensor)]
    results = [Result(fakes[number], [count(size) for size in fakes[number].shape]) for number in numbers]
    call = Call(node.target, args, named, results, numbers)
    call = _calls.setdefault((call.name, call.text), call)
    keep(call)
    every = iter(call.places.logical(_flat(_op(call)(tensors, call.text))))
    given = [next(every) if isinstance(fake, torch.Tensor) else fake for fake in fakes]
    return given[0] if isinstance(node.meta["val"], torch.Tensor) else given
