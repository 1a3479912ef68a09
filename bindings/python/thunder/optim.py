"""Optimisers, and schedules of their learning rate.

    opt = optim.AdamW(net.parameters(), lr=1e-3)
    opt.step(gradients)      # inside a compiled function it becomes a part of the program
    opt.lr = 3e-4            # recompiles nothing
    schedule = optim.CosineAnnealingLR(opt, T_max=100)
"""
from . import _names, _schema, _thunder
from ._thunder import ModuleBase, OptimizerBase, ScheduleBase


def _check_options(kind, options, known):
    for name in options:
        if name not in known:
            raise TypeError(f"{kind}: unknown option {name!r}{_names.suggest(name, known)}")


class _State:
    """Numbers that are tensors of a module of the library's own."""

    def state_dict(self):
        """Its tensors by name: the state's own."""
        return self._state()._state()

    def save(self, path):
        """Writes them to a safetensors file."""
        self._state()._save(path)

    def load(self, path):
        """Reads them into the same tensors; returns self."""
        self._state()._load(path, True)
        return self


class Optimizer(_State, OptimizerBase):
    """An update rule over a list or dict of parameters, or those of a module."""

    def __new__(cls, params, **options):
        if cls is Optimizer:
            raise TypeError("Optimizer is what SGD, Adam and AdamW have in common; take one of them")
        _check_options(cls.__name__, options, cls._options)
        if isinstance(params, ModuleBase):
            params = params.parameters()
        elif not isinstance(params, dict):
            params = list(params)
        return OptimizerBase.__new__(cls, cls.__name__, params, options)

    def step(self, gradients=None):
        """One step, with gradients in the structure of the parameters."""
        if gradients is None:
            raise TypeError("step: the gradients must be given: opt.step(thunder.grad_of(loss, params))")
        self._step(gradients)

    def zero_grad(self):
        raise AttributeError("nothing is accumulated: gradients are values, opt.step(thunder.grad_of(loss, params))")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._get(name)

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self._set(name, value)


class Schedule(_State, ScheduleBase):
    """Writes the learning rate of an optimiser at each step()."""

    def __new__(cls, optimizer, **options):
        if cls is Schedule:
            raise TypeError("Schedule is what StepLR, CosineAnnealingLR ... have in common; take one of them")
        _check_options(cls.__name__, options, cls._options)
        return ScheduleBase.__new__(cls, cls.__name__, optimizer, options)


def _class_of(row, base):
    lines = [f"    {o['name']} ({o['kind']}{', ' + o['default'] if o['default'] else ''}): {o['doc']}" for o in row["options"]]
    return type(row["name"], (base,), {"__doc__": row["doc"] + "\n\n" + "\n".join(lines), "__module__": __name__,
                                       "_options": {option["name"] for option in row["options"]}})


for _row in _schema.describe("optimizers"):
    globals()[_row["name"]] = _class_of(_row, Optimizer)
for _row in _schema.describe("schedules"):
    globals()[_row["name"]] = _class_of(_row, Schedule)


def clip_grad_norm(gradients, max_norm):
    """(gradients scaled so that their norm together is at most max_norm, the norm before)."""
    return _thunder.clip(gradients, max_norm, True)


def clip_grad_value(gradients, bound):
    """Each element bounded to [-bound, bound]."""
    return _thunder.clip(gradients, bound, False)
