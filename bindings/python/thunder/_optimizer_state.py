"""A state that PyTorch wrote of an optimiser, under the names of ours."""
import contextlib
from collections.abc import Mapping

import numpy

from . import _create, _thunder

_SKIPPED = "skipped."


def is_pytorch(state):
    """Whether it is what torch.optim's state_dict() gives."""
    return isinstance(state, Mapping) and state.keys() >= {"state", "param_groups"}


def _check_options(who, optimizer, number, group):
    """What is fixed when an optimiser is made must be what the state was made with."""
    for name in type(optimizer)._options:
        if name not in group or name == "lr" or isinstance(group[name], (list, tuple, str)) or group[name] is None:
            continue
        ours = optimizer._get(f"param_groups.{number}.{name}")
        if ours != float(group[name]):
            raise ValueError(f"load_state_dict: {who}: {name} of group {number} was {group[name]}, this one was made with {ours}")


def from_pytorch(who, optimizer, state):
    """The same as a dict of ours: what the state leaves out stays as it is."""
    own, groups = optimizer.state_dict(), state["param_groups"]
    if len(groups) != len(optimizer._keys):
        raise ValueError(f"load_state_dict: {who}: the state has {len(groups)} parameter groups, this one {len(optimizer._keys)}")
    made, known = dict(own), set(own)
    for number, (group, names) in enumerate(zip(groups, optimizer._keys)):
        if len(group["params"]) != len(names):
            raise ValueError(f"load_state_dict: {who}: group {number} of the state has {len(group['params'])} parameters, here {len(names)}")
        _check_options(who, optimizer, number, group)
        prefix = f"param_groups.{number}." if number else ""
        made[prefix + "lr"] = _scalar(group["lr"])
        if "old_dirs" in own:
            made |= _of_lbfgs(own, optimizer, group["params"], state["state"])
            continue
        steps = {name: _steps(state["state"].get(position, {})) for position, name in zip(group["params"], names)}
        if most := max(steps.values()):
            made[prefix + "step"] = _scalar(most)
        counts = [(_count(optimizer, known, name, own_steps < most), most - own_steps) for name, own_steps in steps.items()]
        made |= {path: _scalar(skipped) for path, skipped in counts if path}
        for position, name in zip(group["params"], names):
            for moment, value in state["state"].get(position, {}).items():
                if moment == "step" or value is None:
                    continue
                if f"{moment}.{name}" in own:
                    made[f"{moment}.{name}"] = _scalar(value) if not own[f"{moment}.{name}"].shape else value
                else:
                    raise ValueError(f"load_state_dict: {who}: there is no {moment!r} of parameter {name!r} here")
    return made


def _steps(values):
    """How many steps a parameter has made, of which SGD keeps no more than that there was one."""
    if "step" in values:
        return _scalar(values["step"]).item()
    return 0.0 if values.get("momentum_buffer") is None else 1.0


def _count(optimizer, known, name, make):
    """The path of the count of the steps that left a parameter alone, if it is known or if `make` asks for one; else None."""
    path = _SKIPPED + name
    if make and path not in known:
        with contextlib.suppress(_thunder.Error):  # a kind whose updates are the same at each step has none
            optimizer._set(path, 0.0)
            known.add(path)
    return path if path in known else None


def with_skipped_steps(optimizer, state):
    """The state with each count of skipped steps that is here or there: what has none is 0."""
    if not isinstance(state, Mapping):
        return state
    known = set(optimizer.state_dict())
    counts = [_count(optimizer, known, name, _SKIPPED + name in state) for keys in optimizer._keys for name in keys]
    return {path: _scalar(0.0) for path in counts if path} | dict(state)


def _of_lbfgs(own, optimizer, places, states):
    """The state that LBFGS keeps with its first parameter, over the elements of all of them one after the other."""
    given = states.get(places[0], {})
    order = _order_of_elements(optimizer)
    made = {}
    for name, value in given.items():
        if name in ("old_dirs", "old_stps", "ro"):
            made[name] = numpy.zeros(own[name].shape, numpy.float64)
            for at, row in enumerate(value):
                made[name][at] = numpy.asarray(_create.of_copied(row))[order if name != "ro" else ...]
            made["history_count"] = _scalar(len(value))
        elif name in ("d", "prev_flat_grad") and value is not None:
            made[name] = numpy.asarray(_create.of_copied(value))[order]
        elif name in own and value is not None:
            made[name] = _scalar(value)
    return {name: _create.asarray(numpy.asarray(value)).to(own[name].dtype) for name, value in made.items()}


def _order_of_elements(optimizer):
    """Where the elements of our vector are in PyTorch's: parameters by name are in the order of the names."""
    names, params = optimizer._keys[0], optimizer._groups[0]
    starts = numpy.cumsum([0] + [p.numel() for p in params])
    by_name = names != [str(number) for number in range(len(names))]
    order = sorted(range(len(names)), key=lambda at: names[at].encode()) if by_name else range(len(names))
    return numpy.concatenate([numpy.arange(starts[at], starts[at + 1]) for at in order])


def _scalar(value):
    """A number, or a tensor of one, as one of f64."""
    return _create.asarray(numpy.array(float(value.item() if hasattr(value, "item") else value)))
