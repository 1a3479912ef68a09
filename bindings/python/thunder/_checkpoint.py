"""Checkpoints of several ranks: plain safetensors of whole tensors, each written by the rank that owns it, and Hugging Face's index."""
import collections
import json
import os
import secrets

from . import _ops, _thunder
from ._create import tensor as make_tensor

_op = _ops.functions

INDEX = "model.safetensors.index.json"
OPTIMIZER, RANDOM, SHARD = "optimizer.", "random_state", "_thunder_shard"


# Along `axis` each rank has a part of the `size` of a dim; of each of so many blocks of it, one behind the other.
Shard = collections.namedtuple("Shard", ["axis", "size", "dim", "blocks"], defaults=[0, 1])


def note_shard(tensor, shard):
    """From now on a tensor is known to be a part of another one."""
    vars(_thunder.know(tensor))[SHARD] = shard


def refuse_shards(who, tensors):
    """Throws where a file would hold parts of tensors."""
    for name, tensor in tensors.items():
        if SHARD in vars(tensor):
            raise ValueError(f"{who}: '{name}' is a shard, of which other ranks have the rest; th.parallel.save(folder, mesh, net) writes whole tensors")


def _shard_of_moment(optimizer, name, tensor):
    """The parameter's, where it has a number for each element of a shard; else None."""
    named = [pair for group in optimizer.param_groups for pair in _by_name(group["params"])]
    parameters = {path if isinstance(path, str) else str(at): parameter for at, (path, parameter) in enumerate(named)}
    parameter = parameters.get(name.partition(".")[2])
    if parameter is None or tensor.shape != parameter.shape:
        return None
    return vars(parameter).get(SHARD)


def _by_name(parameters):
    return parameters.items() if isinstance(parameters, dict) else enumerate(parameters)


def _named(module, optimizer, more):
    """{name: (tensor, what it is a part of or None)}."""
    found = {name: (tensor, vars(tensor).get(SHARD)) for name, tensor in module.state_dict().items()}
    for name, tensor in more.items():
        if not isinstance(tensor, _thunder.Tensor):
            raise TypeError(f"checkpoint: {name} must be a tensor, which load() writes into, not {type(tensor).__name__}; th.tensor({tensor!r}) is one")
    others = {name: (tensor, None) for name, tensor in more.items()}
    if optimizer is not None:
        for name, tensor in optimizer.state_dict().items():
            others[OPTIMIZER + name] = tensor, _shard_of_moment(optimizer, name, tensor)
    others[RANDOM] = _thunder.random_state(), None
    for name, row in others.items():
        if name in found:
            raise ValueError(f"checkpoint: the module and others have a tensor '{name}'; give one another name")
        found[name] = row
    return found


def _in_blocks(tensor, shard):
    """With the blocks of the dim as a dim of their own before it."""
    shape = list(tensor.shape)
    return tensor.reshape([*shape[:shard.dim], shard.blocks, shape[shard.dim] // shard.blocks, *shape[shard.dim + 1:]])


def _along(dim, begin, end):
    return (slice(None),) * dim + (slice(begin, end),)


def _whole(tensor, shard):
    """On all ranks: the tensor, or what a shard is one of."""
    if shard is None:
        return tensor
    shape = list(tensor.shape)
    shape[shard.dim] = shard.size
    if shard.blocks > 1:
        return _op["all_gather"](_in_blocks(tensor, shard), shard.axis, shard.dim + 1).reshape(shape)
    return _op["all_gather"](tensor, shard.axis, shard.dim)[_along(shard.dim, 0, shard.size)]


def _agree(mesh, what, work):
    """Runs `work`; an exception of one rank is an error of all."""
    failed, found = None, None
    try:
        found = work()
    except Exception as error:
        failed = error
    if mesh.size() > 1:
        good = _op["all_reduce"](make_tensor([0 if failed else 1]), "world", "min").item()
        if not failed and not good:
            failed = RuntimeError(f"checkpoint: another rank could not {what}")
    if failed:
        raise failed
    return found


def _read_index(folder):
    """{name: file} of what is there; None: nothing is."""
    try:
        with open(os.path.join(folder, INDEX), encoding="utf-8") as file:
            return json.load(file)["weight_map"]
    except FileNotFoundError:
        return None


def _sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_index(folder, files, total):
    path = os.path.join(folder, INDEX)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": files}, file, indent=1)
    _sync(path + ".new")
    os.replace(path + ".new", path)
    _sync(folder)


def save(folder, mesh, module, optimizer=None, **tensors):
    """Writes a checkpoint that loads at any number of ranks, and without any: each tensor is whole, in the file of the rank that owns it, and
    `model.safetensors.index.json`, which comes last, makes it one. What was in the folder before stays whole until then. All ranks call
    it. Beside the module's state: the optimiser's, as "optimizer.NAME", the random state, and tensors of the caller's by name."""
    folder = os.fspath(folder)
    everything = _named(module, optimizer, tensors)
    ranks, rank = mesh.size(), mesh.index()
    owned, bytes_of, files, own = [0] * ranks, {}, {}, {}
    # One name for the files of this save, which no older one has.
    mark = int(_op["broadcast"](make_tensor([secrets.randbits(48)]), "world", 0).item())
    for name, (tensor, shard) in everything.items():
        whole = _whole(tensor, shard)
        owner = owned.index(min(owned))
        bytes_of[name] = whole.numel() * whole.element_size()
        owned[owner] += bytes_of[name]
        files[name] = f"model-{mark:012x}-{owner + 1:05}-of-{ranks:05}.safetensors"
        if owner == rank:
            own[name] = whole.clone() if whole is tensor else whole

    def write():
        os.makedirs(folder, exist_ok=True)
        if own:
            path = os.path.join(folder, next(files[name] for name in own))
            _thunder.write_safetensors(own, path)
            _sync(path)
    _agree(mesh, "write its file", write)
    before = _agree(mesh, "read the index", lambda: _read_index(folder)) if rank == 0 else _agree(mesh, "read the index", lambda: None)
    _agree(mesh, "write the index", (lambda: _write_index(folder, files, sum(bytes_of.values()))) if rank == 0 else lambda: None)
    for old in set((before or {}).values()) - set(files.values()):
        try:
            os.remove(os.path.join(folder, old))
        except OSError:
            pass  # somebody else's, or gone


def _fit(mesh, name, row, given):
    """The part of a whole tensor that this rank has."""
    tensor, shard = row
    shape = list(tensor.shape)
    if shard is not None:
        shape[shard.dim] = shard.size
    if list(given.shape) != shape or given.dtype is not tensor.dtype:
        raise ValueError(f"load: '{name}' is {given.dtype} {list(given.shape)} in the checkpoint, and {tensor.dtype} {shape} here")
    if shard is None:
        return given
    part, at = tensor.shape[shard.dim], mesh.index(shard.axis)
    if shard.blocks > 1:
        part //= shard.blocks
        return _in_blocks(given, shard)[_along(shard.dim + 1, at * part, (at + 1) * part)].reshape(list(tensor.shape))
    own = given[_along(shard.dim, min(at * part, shard.size), min((at + 1) * part, shard.size))]
    missing = list(tensor.shape)
    missing[shard.dim] -= own.shape[shard.dim]
    return own if not missing[shard.dim] else _op["cat"]([own, _op["zeros"](missing, dtype=tensor.dtype)], shard.dim)


def load(folder, mesh, module, optimizer=None, **tensors):
    """Reads what save() wrote into the same tensors, on any number of ranks; on failure nothing has changed. All ranks call it."""
    folder = os.fspath(folder)
    everything = _named(module, optimizer, tensors)

    def read():
        files = _read_index(folder)
        if files is None:
            raise FileNotFoundError(f"load: there is no {INDEX} in '{folder}': nothing was saved there, or not to its end")
        missing = [name for name in everything if name not in files]
        if missing:
            raise ValueError(f"load: the checkpoint '{folder}' has no {', '.join(map(repr, missing[:8]))}")
        found = {}
        for file in sorted({files[name] for name in everything}):
            held = _thunder.read_safetensors(os.path.join(folder, file))
            for name, row in everything.items():
                if files[name] == file:
                    found[name] = _fit(mesh, name, row, held[name]).clone()
        return found
    found = _agree(mesh, "read the checkpoint", read)
    for name, (tensor, _) in everything.items():
        tensor.copy_(found[name].to(tensor.device))
