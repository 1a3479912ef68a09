"""Calls that were written for PyTorch, answered by ours: what PyTorch offers to override (torch.overrides) is looked up here.

op_db wraps many functions in lambdas of its own, so a sample is run by calling its wrapper while Answering() is on: each function
of PyTorch that the wrapper reaches becomes the function or method of the same name here, on the same arguments.
"""
import torch
from torch.overrides import TorchFunctionMode, resolve_name

import thunder as th


class NotOurs(Exception):
    """The sample needs something that the library has on purpose not: complex numbers, sparse tensors, out=."""


class Missing(Exception):
    """There is no function or method of this name."""


_DTYPES = {getattr(torch, name): getattr(th, name) for name in (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64")}
DTYPES_OF_OURS = {ours.name: theirs for theirs, ours in _DTYPES.items()}
_PLAIN = {"shape", "dtype", "device", "ndim", "dim", "size", "numel", "nelement", "is_floating_point", "is_complex", "layout", "stride",
          "requires_grad", "is_sparse", "is_contiguous", "storage_offset", "is_leaf", "__len__", "itemsize", "element_size", "is_nested"}
# What functions of torch.nn.functional pass on when they ask for an override, though nobody gave it: options without effect or of old.
_PASSED_ON = {"size_average", "reduce", "recompute_scale_factor", "max_norm"}


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


# ---- where a name is ----

def _at(start, path):
    for part in path.split("."):
        start = vars(start).get(part) if not isinstance(start, type) else getattr(start, part, None)
        if start is None:
            return None
    return start


def find(name):
    """The function, or else the method, that op_db's or PyTorch's name has here; None."""
    short = name.removeprefix("torch.")
    for prefix, module in (("_C._nn.", "nn.functional."), ("_C._linalg.linalg_", "linalg."), ("linalg_", "linalg."),
                           ("_C._special.special_", "special."), ("special_", "special."), ("functional.", ""),
                           ("_C._VariableFunctions.", "")):
        if short.startswith(prefix):
            short = module + short.removeprefix(prefix)
    if short.startswith(("Tensor.", "_C.TensorBase.")):
        return getattr(th.Tensor, short.rpartition(".")[2], None)
    found = _at(th, short)
    return found if callable(found) and not isinstance(found, type) or "." in short else getattr(th.Tensor, short, None)


def _name_of(function):
    if getattr(function, "__name__", "") == "__get__":
        return f"Tensor.{function.__self__.__name__}"
    if isinstance(function, torch._ops.OpOverload):
        return f"torch.{function._opname}"
    if getattr(torch, getattr(function, "__name__", ""), None) is function:
        return f"torch.{function.__name__}"     # mm, which is spmm as well
    name = resolve_name(function) or getattr(function, "__qualname__", repr(function))
    return name if "." in name else f"torch.{name}"


# ---- values on their way ----

class Held:
    """One of our tensors, where wrappers of op_db handle one of PyTorch's."""

    def __init__(self, tensor):
        self.tensor = tensor

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return answer(function, args, kwargs or {}, {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.tensor, name)
        return (lambda *args, **named: held(found(*released(args), **released(named)))) if callable(found) else held(found)

    def __getitem__(self, key):
        return held(self.tensor[released(key)])


def _operator(name):
    def of(self, *others):
        return held(getattr(self.tensor, name)(*released(others)))
    return of


for _name in ("add", "sub", "mul", "truediv", "matmul", "pow", "radd", "rsub", "rmul", "neg", "abs", "invert"):
    setattr(Held, f"__{_name}__", _operator(f"__{_name}__"))


def _map(tree, leaf):
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_map(part, leaf) for part in tree))
    if isinstance(tree, (list, tuple)):
        return (list if isinstance(tree, list) else tuple)(_map(part, leaf) for part in tree)
    if isinstance(tree, dict):
        return {name: _map(part, leaf) for name, part in tree.items()}
    return leaf(tree)


def held(tree):
    return _map(tree, lambda leaf: Held(leaf) if isinstance(leaf, th.Tensor) else leaf)


def released(tree):
    return _map(tree, lambda leaf: leaf.tensor if isinstance(leaf, Held) else leaf)


def _tensor_to_ours(tensor, known):
    if tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized:
        raise NotOurs("sparse, nested and quantised tensors are not here")
    if tensor.dtype not in _DTYPES:
        raise NotOurs("complex numbers and 8-bit floats are not here")
    if id(tensor) not in known:
        plain = tensor.detach().resolve_neg()
        known[id(tensor)] = (th.from_dlpack(plain), tensor)   # the tensor stays alive while its id is a key
    return known[id(tensor)][0]


def _to_ours(value, known):
    if isinstance(value, Held):
        return value.tensor
    if isinstance(value, torch.Tensor):
        return _tensor_to_ours(value, known)
    if isinstance(value, torch.dtype):
        if value not in _DTYPES:
            raise NotOurs("complex numbers and 8-bit floats are not here")
        return _DTYPES[value]
    if isinstance(value, torch.device):
        return th.device(str(value))
    if isinstance(value, torch.nn.Module):  # a distance, which ours calls with tensors of its own
        return lambda *args: released(value(*held(args)))
    if isinstance(value, complex):
        raise NotOurs("complex numbers and 8-bit floats are not here")
    if isinstance(value, torch.Generator):
        raise NotOurs("there is one random state, and no generators to pass")
    if isinstance(value, (torch.layout, torch.memory_format)) and value not in (torch.strided, torch.contiguous_format,
                                                                                torch.preserve_format):
        raise NotOurs("layouts and memory formats are not options of ops here")
    return value


def to_ours(tree, known):
    """The arguments as ours: tensors share their memory, and one that occurs twice is one here too."""
    if isinstance(tree, torch.Size):
        return list(tree)
    if isinstance(tree, slice):
        return slice(*(to_ours(part, known) for part in (tree.start, tree.stop, tree.step)))
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return type(tree)(to_ours(part, known) for part in tree)
    return _to_ours(tree, known)


def _named_to_ours(kwargs, known):
    kept = {}
    for name, value in kwargs.items():
        if name == "out" and value is not None:
            raise NotOurs("results are not written into tensors that are passed as out=")
        if name in _PASSED_ON and value is None or name == "_stacklevel":
            continue
        if name in ("layout", "memory_format", "pin_memory", "requires_grad", "out", "generator"):
            _to_ours(value, known)          # refused where it asks for something
        else:
            kept[name] = to_ours(value, known)
    return kept


def answer(function, args, kwargs, known):
    """What our function of that name makes of these arguments, held."""
    name = _name_of(function)
    if "return_indices" in kwargs:
        name = name.removesuffix("_with_indices")   # PyTorch's functions of both kinds pass the flag on
    if name.rpartition(".")[2] in _PLAIN and isinstance(args[0], torch.Tensor):
        return function(*args, **kwargs)
    ours = find(name)
    if ours is None:
        raise Missing(f"there is no {name}")
    args, kwargs = to_ours(tuple(args), known), _named_to_ours(kwargs, known)
    return held(ours.__get__(args[0]) if isinstance(ours, property) else ours(*args, **kwargs))


class Answering(TorchFunctionMode):
    """While on, functions of PyTorch are answered by ours. known: {id of a tensor of PyTorch: (ours, it)}, filled as they come."""

    def __init__(self, known):
        super().__init__()
        self.known = known

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return answer(function, args, kwargs or {}, self.known)
