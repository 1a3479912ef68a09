"""What PyTorch has in torch.nn.utils: parameters as one vector, sequences of several lengths as one tensor, a module with other tensors."""
from . import _names, _ops, _packed, _thunder
from ._thunder import ModuleBase, Tensor

_op = _ops.functions


def parameters_to_vector(parameters):
    """All elements of the tensors, one after the other, in one vector."""
    return _op["cat"]([_op["reshape"](tensor, [-1]) for tensor in parameters])


def vector_to_parameters(vec, parameters):
    """Writes the parts of a vector into the tensors, one after the other."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: a tensor was expected, not {type(vec).__name__}")
    parameters, at = list(parameters), 0
    if sum(tensor.numel() for tensor in parameters) != vec.numel():
        raise ValueError(f"vector_to_parameters: the vector has {vec.numel()} elements, the parameters {sum(t.numel() for t in parameters)}")
    for tensor in parameters:
        tensor.copy_(_op["reshape"](vec[at:at + tensor.numel()], list(tensor.shape)))
        at += tensor.numel()


# ---- sequences ----

def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences [length, ...] of several lengths as one tensor [longest, batch, ...], or [batch, longest, ...]."""
    sequences = list(sequences)
    if not sequences:
        raise ValueError("pad_sequence: the list of sequences is empty")
    if padding_side not in ("left", "right"):
        raise ValueError(f"pad_sequence: padding_side must be 'left' or 'right', got {padding_side!r}")
    longest = max(one.shape[0] for one in sequences)

    def padded(one):
        if one.shape[0] == longest:
            return one
        rest = _op["full"]([longest - one.shape[0], *one.shape[1:]], padding_value, one.dtype, one.device)
        return _op["cat"]([one, rest] if padding_side == "right" else [rest, one])
    return _op["stack"]([padded(one) for one in sequences], 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The list of sequences that pad_sequence() made one tensor of, on the right."""
    batches = padded_sequences if batch_first else _op["transpose"](padded_sequences, 0, 1)
    return [batches[number][:int(length)] for number, length in enumerate(lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Sequences [length, ...] of several lengths as a PackedSequence."""
    return _packed.pack_padded_sequence(pad_sequence(sequences), [one.shape[0] for one in sequences], False, enforce_sorted)


def unpack_sequence(packed_sequences):
    """The list of sequences that pack_sequence() took."""
    padded, lengths = _packed.pad_packed_sequence(packed_sequences, True)
    return unpad_sequence(padded, lengths.tolist(), True)


# ---- a module with other tensors ----

def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with these tensors, by path, in the place of its own: a dict, or several. Gradients are asked for by them."""
    if not isinstance(module, ModuleBase):
        raise TypeError(f"functional_call: a module was expected, not {type(module).__name__}")
    several = parameter_and_buffer_dicts if isinstance(parameter_and_buffer_dicts, (list, tuple)) else [parameter_and_buffer_dicts]
    given = {path: tensor for one in several for path, tensor in one.items()}
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    unknown = next((path for path in given if path not in own), None)
    if unknown is not None:
        raise KeyError(f"functional_call: {type(module).__name__} has no parameter or buffer {unknown!r}{_names.suggest(unknown, own)}")
    missing = [path for path in own if path not in given]
    if strict and missing:
        raise KeyError(f"functional_call: {', '.join(missing)} are missing, and strict asks for all")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    return (_standing_in if _thunder.is_tracing() else _replaced)(module, given, own, args, kwargs or {})


def _standing_in(module, given, own, args, kwargs):
    """What is recorded while it runs reads the given tensors where it names the module's own."""
    begun = []
    try:
        for path, tensor in given.items():
            _thunder.stand_in(own[path], tensor)
            begun.append(path)
        return module(*args, **kwargs)
    finally:
        for path in begun:
            _thunder.stand_in(own[path], None)


def _replaced(module, given, own, args, kwargs):
    """While it runs, the module's own tensors are the given ones."""
    owners = {path: (module.get_submodule(path.rpartition(".")[0]), path.rpartition(".")[2]) for path in given}
    roles = {path: owner._own_names()[name] for path, (owner, name) in owners.items()}
    try:
        for path, (owner, name) in owners.items():
            owner._set_tensor(name, given[path], roles[path])
        return module(*args, **kwargs)
    finally:
        for path, (owner, name) in owners.items():
            owner._set_tensor(name, own[path], roles[path])


def stack_module_state(models):
    """(parameters, buffers) by path of modules that are alike, stacked along a new first dim: for vmap() over them by functional_call()."""
    models = list(models)
    if not models or any(type(model) is not type(models[0]) for model in models):
        raise ValueError("stack_module_state: a list of modules of one class was expected")
    return tuple({path: _op["stack"]([dict(named(model))[path] for model in models]) for path, _ in named(models[0])}
                 for named in (type(models[0]).named_parameters, type(models[0]).named_buffers))


def reset_parameters(module):
    """First values anew, as a module of the same kind and options has them."""
    fresh = type(module)(**module._options())
    for name, tensor in [*fresh.named_parameters(), *fresh.named_buffers()]:
        own = module.get_submodule(name.rpartition(".")[0])._tensor(name.rpartition(".")[2])
        own.copy_(tensor.to(own.device))


rnn = _names.namespace("thunder.nn.utils.rnn", "Sequences of several lengths as one tensor.", {
    "pad_sequence": pad_sequence, "unpad_sequence": unpad_sequence, "pack_sequence": pack_sequence, "unpack_sequence": unpack_sequence,
    **{name: getattr(_packed, name) for name in ("pack_padded_sequence", "pad_packed_sequence", "PackedSequence")}})
