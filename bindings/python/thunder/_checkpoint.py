"""Checkpoints of several ranks: plain safetensors of whole tensors, each written by the rank that owns it, and Hugging Face's index."""
import json
import os
import secrets

from . import _ops, _thunder
from ._create import tensor as make_tensor

_op = _ops.functions

INDEX = "model.safetensors.index.json"
OPTIMIZER, RANDOM, SHARD = "optimizer.", "random_state", "_thunder_shard"


def note_shard(shard, axis, rows):
    """From now on a tensor is known to be a part of one with so many rows."""
    vars(_thunder.know(shard))[SHARD] = axis, rows


def refuse_shards(who, tensors):
    """Throws where a file would hold parts of tensors."""
    for name, tensor in tensors.items():
        if SHARD in vars(tensor):
            raise ValueError(f"{who}: '{name}' is a shard, of which other ranks have the rest; th.parallel.save(folder, mesh, net) writes whole tensors")


def _shard_of_moment(optimizer, name, tensor):
    """(axis, rows) where it has a number for each element of a shard; else (None, None)."""
    named = [pair for group in optimizer.param_groups for pair in _by_name(group["params"])]
    parameters = {path if isinstance(path, str) else str(at): parameter for at, (path, parameter) in enumerate(named)}
    parameter = parameters.get(name.partition(".")[2])
    if parameter is None or tensor.shape != parameter.shape:
        return None, None
    return vars(parameter).get(SHARD, (None, None))


def _by_name(parameters):
    return parameters.items() if isinstance(parameters, dict) else enumerate(parameters)


def _named(module, optimizer, more):
    """{name: (tensor, the axis along which it is a shard or None, rows of the whole)}."""
    found = {name: (tensor, *vars(tensor).get(SHARD, (None, None))) for name, tensor in module.state_dict().items()}
    for name, tensor in more.items():
        if not isinstance(tensor, _thunder.Tensor):
            raise TypeError(f"checkpoint: {name} must be a tensor, which load() writes into, not {type(tensor).__name__}; th.tensor({tensor!r}) is one")
    others = {name: (tensor, None, None) for name, tensor in more.items()}
    if optimizer is not None:
        for name, tensor in optimizer.state_dict().items():
            others[OPTIMIZER + name] = tensor, *_shard_of_moment(optimizer, name, tensor)
    others[RANDOM] = _thunder.random_state(), None, None
    for name, row in others.items():
        if name in found:
            raise ValueError(f"checkpoint: the module and others have a tensor '{name}'; give one another name")
        found[name] = row
    return found


def _whole(tensor, axis, rows):
    """On all ranks: the tensor, or what a shard is one of."""
    return tensor if axis is None else _op["all_gather"](tensor, axis, 0)[:rows]


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
    for name, (tensor, axis, rows) in everything.items():
        whole = _whole(tensor, axis, rows)
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
    tensor, axis, rows = row
    shape = list(tensor.shape) if axis is None else [rows, *tensor.shape[1:]]
    if list(given.shape) != shape or given.dtype is not tensor.dtype:
        raise ValueError(f"load: '{name}' is {given.dtype} {list(given.shape)} in the checkpoint, and {tensor.dtype} {shape} here")
    if axis is None:
        return given
    part, at = tensor.shape[0], mesh.index(axis)
    own = given[min(at * part, rows):min((at + 1) * part, rows)]
    missing = part - own.shape[0]
    return own if not missing else _op["cat"]([own, _op["zeros"]([missing, *tensor.shape[1:]], dtype=tensor.dtype)], 0)


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
    for name, (tensor, _, _) in everything.items():
        tensor.copy_(found[name].to(tensor.device))
