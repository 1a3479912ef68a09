"""A state that PyTorch wrote of an optimiser, under the names of ours."""
from collections.abc import Mapping

import numpy

from . import _tensor


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
    made = dict(own)
    for number, (group, names) in enumerate(zip(groups, optimizer._keys)):
        if len(group["params"]) != len(names):
            raise ValueError(f"load_state_dict: {who}: group {number} of the state has {len(group['params'])} parameters, here {len(names)}")
        _check_options(who, optimizer, number, group)
        prefix = f"param_groups.{number}." if number else ""
        made[prefix + "lr"] = _scalar(group["lr"])
        for position, name in zip(group["params"], names):
            for moment, value in state["state"].get(position, {}).items():
                if moment == "step":
                    made[prefix + "step"] = _scalar(value)
                elif value is None:
                    continue
                elif f"{moment}.{name}" in own:
                    made[f"{moment}.{name}"] = _scalar(value) if not own[f"{moment}.{name}"].shape else value
                else:
                    raise ValueError(f"load_state_dict: {who}: there is no {moment!r} of parameter {name!r} here")
    return made


def _scalar(value):
    """A number, or a tensor of one, as one of f64."""
    return _tensor.asarray(numpy.array(float(value)))
