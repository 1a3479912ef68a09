"""The tensors of a module from a dict of them; what does not fit is listed as PyTorch lists it."""
from collections.abc import Mapping
from typing import NamedTuple

from . import _backward, _create


class IncompatibleKeys(NamedTuple):
    """What load_state_dict() gives: the names that only the module has, and those that only the dict has."""
    missing_keys: list
    unexpected_keys: list

    def __repr__(self):
        lists = f"missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys}"
        return f"IncompatibleKeys({lists})" if any(self) else "<All keys matched successfully>"


def _given(path, value):
    try:
        return _create.of_copied(value)
    except TypeError as error:
        raise TypeError(f"load_state_dict: {path}: {error}") from None


def _prefix(names, shorter):
    """What stands in front of each of the shorter names among the others; "" if nothing does."""
    for name in names if shorter else ():
        prefix = name.removesuffix(shorter[0])
        if prefix.endswith(".") and prefix != name and all(prefix + short in names for short in shorter):
            return prefix
    return ""


def _advice(own, state, missing, unexpected):
    """What the names that do not fit have in common, and what to do about it."""
    if prefix := _prefix(unexpected, missing):
        return [f'The names of the dict begin with "{prefix}", those of the module do not: '
                f'load_state_dict({{name.removeprefix("{prefix}"): tensor for name, tensor in state.items()}}).']
    if prefix := _prefix(missing, unexpected):
        return [f'The names of the module begin with "{prefix}", those of the dict do not: '
                f'load_state_dict({{"{prefix}" + name: tensor for name, tensor in state.items()}}).']
    inner = [name for name in unexpected if isinstance(state[name], Mapping) and own.keys() & state[name].keys()]
    return [f"What the module wants lies further in: load_state_dict(state[{name!r}])." for name in inner[:1]]


def _quoted(names):
    return ", ".join(f'"{name}"' for name in names)


def _hooks(module, name):
    """(path with a dot behind it, module, hook) of all that it is made of."""
    return [(path + "." if path else "", one, hook) for path, one in module.named_modules() for hook, in one.__dict__.get(name, {}).values()]


def load_module(module, state, strict, assign):
    """The same with the hooks of the module and of all that it is made of."""
    _check(state)
    missing, unexpected, errors, metadata = [], [], [], getattr(state, "_metadata", None) or {}
    given = dict(state)
    for prefix, one, hook in _hooks(module, "_load_pre_hooks"):
        hook(one, given, prefix, metadata.get(prefix.removesuffix("."), {}), strict, missing, unexpected, errors)
    found = IncompatibleKeys(missing, unexpected)

    def judge(keys):
        found.missing_keys.extend(keys.missing_keys), found.unexpected_keys.extend(keys.unexpected_keys)
        for _, one, hook in _hooks(module, "_load_post_hooks"):
            hook(one, found)
        return found
    return load(type(module).__name__, module.state_dict(), given, strict, judge, errors, module if assign else None)


def _check(state):
    if not isinstance(state, Mapping):
        raise TypeError(f"load_state_dict: a dict of tensors by name was expected, not {type(state).__name__}; of a file: "
                        "load(path)")


def _is_needed(path):
    """A count of batches, which states of PyTorch before 0.4.1 and of other libraries have not, stays what it is."""
    return path.rpartition(".")[2] != "num_batches_tracked"


def _assign(module, path, tensor):
    parent, _, name = path.rpartition(".")
    owner = module.get_submodule(parent)
    trained = _backward.requires_grad(owner._tensor(name))
    owner._set_tensor(name, tensor, owner._own_names()[name])
    if trained != _backward.requires_grad(tensor):
        _backward.set_requires_grad(tensor, trained)


def load(who, own, state, strict, judge=lambda keys: keys, errors=(), assigned=None):
    """Copies the dict's tensors into the module's, all or nothing; or gives them to the module `assigned`."""
    _check(state)
    keys = judge(IncompatibleKeys([path for path in own if path not in state and _is_needed(path)], [path for path in state if path not in own]))
    pairs = [(path, own[path], _given(path, state[path])) for path in own if path in state]
    wrong = [f"size mismatch for {path}: the dict has {given.shape}, the module {tensor.shape}."
             for path, tensor, given in pairs if tensor.shape != given.shape]
    wrong += errors
    if strict and any(keys):
        listed = [("Unexpected", keys.unexpected_keys), ("Missing", keys.missing_keys)]
        wrong = [f"{what} key(s) in state_dict: {_quoted(names)}." for what, names in listed if names] + wrong
        wrong += _advice(own, state, *keys)
    if wrong:
        raise RuntimeError("\n\t".join([f"Error(s) in loading state_dict for {who}:", *wrong]))
    for path, tensor, given in pairs:
        _assign(assigned, path, given) if assigned is not None else tensor.copy_(given)
    return keys
