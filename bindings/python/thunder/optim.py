"""Optimisers, and schedules of their learning rate.

    opt = optim.AdamW(net.parameters(), lr=1e-3)
    opt.step(gradients)      # inside a compiled function it becomes a part of the program
    opt.step(closure)        # closure() gives (loss, gradients); LBFGS calls it several times
    opt.lr = 3e-4            # recompiles nothing
    schedule = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=100)
    optim.SGD([{"params": net.body.parameters()}, {"params": net.head.parameters(), "lr": 1e-2}], lr=1e-3)
"""
import collections.abc

from . import _backward, _names, _optimizer_state, _schema, _state, _thunder
from ._thunder import ModuleBase, OptimizerBase, ScheduleBase, Tensor


def _options_of(cls, args, named):
    """Options by position, in the order of the kind's, and by name as one dict."""
    known, kind = cls._options, cls.__name__
    if len(args) > len(known):
        raise TypeError(f"{kind}: takes at most {len(known)} options, got {len(args)}")
    options = dict(zip(known, args))
    for name in named:
        if name not in known:
            raise TypeError(f"{kind}: unknown option {name!r}{_names.suggest(name, known)}")
        if name in options:
            raise TypeError(f"{kind}: option {name!r} is given by position and by name")
    return options | named


def _run_by_the_compiler(options):
    """Without what PyTorch takes to say how a step is run: here a compiled step is one program in any case. A None in a list of
    numbers, Adafactor's eps, is 0."""
    def plain(value):
        return tuple(0.0 if one is None else one for one in value) if isinstance(value, (tuple, list)) else value
    return {name: plain(value) for name, value in options.items() if name not in ("foreach", "fused", "capturable")}


def _tensors_of(params):
    """Parameters as a list of tensors, a dict of them by name, or a list of groups."""
    if isinstance(params, ModuleBase):
        params = params.parameters()
    if isinstance(params, Tensor):
        raise TypeError("parameters are a list or dict of tensors, or a module, not one tensor")
    if not hasattr(params, "__iter__"):
        raise TypeError(f"parameters are a list or dict of tensors, or a module, not {type(params).__name__}"
                        f"{': call it' if callable(params) else ''}")
    params = params if isinstance(params, dict) else list(params)
    if params and all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) for one in params):
        params = dict(params)  # named_parameters()
    for at, one in params.items() if isinstance(params, dict) else enumerate(params):
        if not isinstance(one, (Tensor, dict)):
            raise TypeError(f"parameter {at!r} is no tensor but {type(one).__name__}{': list its parameters()' * isinstance(one, ModuleBase)}")
    return params


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

    def __reduce__(self):
        functions = "; functions that a schedule calls are given again" if isinstance(self, ScheduleBase) else ""
        raise TypeError(f"{type(self).__name__}: optimisers and schedules are neither copied nor pickled: make another one, and give it this "
                        f"one's numbers by load_state_dict(...state_dict()), or save(path) and load(path){functions}")


class _Group(collections.abc.MutableMapping):
    """A group of parameters: opt.param_groups[0]["lr"]. What is written is what the next step has; of lr and step nothing is compiled
    anew."""

    def __init__(self, optimizer, number):
        self._optimizer, self._number = optimizer, number

    def _kinds(self):
        return {"params": "", "lr": "float", "step": "float", **type(self._optimizer)._kinds}

    def __iter__(self):
        return iter(self._kinds())

    def __len__(self):
        return len(self._kinds())

    def _place(self, name, *more):
        return ".".join((f"param_groups.{self._number}.{name}", *more))

    def _of_list(self, name):
        """The numbers of a list, one after the other: "betas.0", "betas.1"."""
        numbers = []
        try:
            while True:
                numbers.append(self._optimizer._get(self._place(name, str(len(numbers)))))
        except _thunder.Error:
            return tuple(numbers)

    def __getitem__(self, name):
        if name == "params":
            return self._optimizer._groups[self._number]
        kind = self._kinds().get(name)
        if kind == "float[]":
            return self._of_list(name)
        try:
            value = self._optimizer._get(self._place(name))
        except _thunder.Error as error:
            raise KeyError(str(error)) from None
        return bool(value) if kind == "bool" else int(value) if kind == "int" else value

    def __setitem__(self, name, value):
        if name == "params":
            raise KeyError("a group's parameters stay; add_param_group() adds others")
        if self._kinds().get(name) != "float[]":
            return self._optimizer._set(self._place(name), value)
        if len(value) != len(self._of_list(name)):
            raise ValueError(f"{name} are {len(self._of_list(name))} numbers, got {len(value)}")
        for at, one in enumerate(value):
            self._optimizer._set(self._place(name, str(at)), one)

    def __delitem__(self, name):
        raise KeyError(f"{name!r} of a group stays")

    def __repr__(self):
        return "{" + ", ".join(f"{name!r}: {self[name]!r}" for name in self if name != "params") + "}"


def _listed(params):
    return list(params.values()) if isinstance(params, dict) else params


def _names_of(params, first):
    """What the state calls them."""
    return list(params) if isinstance(params, dict) else [str(first + number) for number in range(len(params))]


class Optimizer(_State, OptimizerBase):
    """An update rule over a list or dict of parameters, or those of a module; or over groups of them, a list of dicts with
    "params" and the options in which the group differs."""

    def __new__(cls, params, *args, **options):
        if cls is Optimizer:
            raise TypeError("Optimizer is what SGD, Adam and AdamW have in common; take one of them")
        options, params = _options_of(cls, args, _run_by_the_compiler(options)), _tensors_of(params)
        if not params:
            raise ValueError(f"{cls.__name__}: the list of parameters is empty; a module has them once its layers are assigned")
        if not isinstance(params, list) or not isinstance(params[0], dict):
            made = OptimizerBase.__new__(cls, cls.__name__, params, options)
            made._groups, made._keys = [_listed(params)], [_names_of(params, 0)]
            return made
        made = OptimizerBase.__new__(cls, cls.__name__, None, options)
        made._groups, made._keys = [], []
        for group in params:
            made.add_param_group(group)
        return made

    def add_param_group(self, group):
        """Adds {"params": parameters, "lr": ...}: more parameters, with options of their own."""
        if not isinstance(group, dict) or "params" not in group:
            raise TypeError('a parameter group is a dict {"params": parameters, "lr": ...}')
        options = {name: value for name, value in group.items() if name != "params"}
        params = _tensors_of(group["params"])
        self._add_group(params, _options_of(type(self), (), _run_by_the_compiler(options)))
        self._keys.append(_names_of(params, sum(map(len, self._groups))))
        self._groups.append(_listed(params))

    @property
    def param_groups(self):
        """The groups in order: of each its parameters and options by name."""
        return [_Group(self, number) for number in range(self._group_count())]

    def step(self, gradients=None):
        """One step, with the gradients that loss.backward() added up; or with gradients in the structure of the parameters; or with a
        function that gives (loss, those gradients), as thunder.value_and_grad() makes one and a compiled function may be, or the loss
        after loss.backward(): the loss before the step is what this gives then. LBFGS takes a function alone, and calls it several times."""
        if callable(gradients):
            return self._step_closure(lambda: self._closed(gradients()))
        return self._step(self._gathered("step") if gradients is None else gradients)

    def _closed(self, result):
        return result if isinstance(result, tuple) else (result, self._gathered("step(closure)"))

    def _gathered(self, who):
        return _backward.gathered(f"{type(self).__name__}.{who}", *([item for group in each for item in group] for each in (self._keys, self._groups)))

    def load_state_dict(self, state):
        """Copies a state into its own, all or nothing: what state_dict() gave, or PyTorch's, {"state": ..., "param_groups": ...}."""
        if _optimizer_state.is_pytorch(state):
            state = _optimizer_state.from_pytorch(type(self).__name__, self, state)
        state = _optimizer_state.with_skipped_steps(self, state)
        _state.load(type(self).__name__, self.state_dict(), state, True)

    def zero_grad(self, set_to_none=True):
        """Takes the gradients away that backward() added up, or makes them zeros."""
        for group in self._groups:
            for tensor in group:
                _backward.clear(tensor, set_to_none)

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

    def __new__(cls, optimizer, *args, **options):
        if cls is Schedule:
            raise TypeError("Schedule is what StepLR, CosineAnnealingLR ... have in common; take one of them")
        return ScheduleBase.__new__(cls, cls.__name__, optimizer, _options_of(cls, args, options))

    def load_state_dict(self, state):
        """Copies what state_dict() gave into its own."""
        _state.load(type(self).__name__, self.state_dict(), state, True)

    @property
    def last_epoch(self):
        """How many steps were made."""
        return int(self.state_dict()["step"].item())

    def get_last_lr(self):
        """A list with the learning rate of each group that the last step wrote."""
        rates = self._last_lr()
        return list(rates) if isinstance(rates, tuple) else [rates]

    def __repr__(self):
        return f"{type(self).__name__}(step={self.last_epoch}, lr={', '.join(map(str, self.get_last_lr()))})"


def _class_of(row, base):
    lines = [f"    {o['name']} ({o['kind']}{', ' + o['default'] if o['default'] else ''}): {o['doc']}" for o in row["options"]]
    return type(row["name"], (base,), {"__doc__": row["doc"] + "\n\n" + "\n".join(lines), "__module__": __name__,
                                       "_options": [option["name"] for option in row["options"]],
                                       "_kinds": {option["name"]: option["kind"] for option in row["options"] if option["kind"] != "str"}})


class _Composed(Schedule):
    """Schedules of one optimiser as one, which alone is stepped."""

    def __new__(cls, optimizer, schedulers, *args, **options):
        parts = list(schedulers)
        for number, part in enumerate(parts):
            if isinstance(part, _Computed):
                raise TypeError(f"{cls.__name__}: element {number}, {type(part).__name__}, calls a function; step it by itself")
        return ScheduleBase.__new__(cls, cls.__name__, parts, _options_of(cls, args, options))


class _Chained(_Composed):
    def __new__(cls, schedulers, optimizer=None):
        return _Composed.__new__(cls, optimizer, schedulers)


class _Computed(Schedule):
    """Learning rates from functions of the step, one for all groups or one for each. Its numbers are those of a schedule that leaves
    the learning rate as it is."""

    def __new__(cls, optimizer, lr_lambda):
        made = ScheduleBase.__new__(cls, "ConstantLR", optimizer, {"factor": 1.0, "total_iters": 1})
        groups = optimizer._group_count()
        made._optimizer, made._functions = optimizer, list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(made._functions) != groups:
            raise ValueError(f"{cls.__name__}: {len(made._functions)} functions for {groups} parameter groups")
        made._write(made.get_last_lr())
        return made

    def get_last_lr(self):
        return [self._optimizer._get(f"param_groups.{number}.lr") for number in range(len(self._functions))]

    def step(self):
        """Writes the next learning rate."""
        rates = self.get_last_lr()
        super().step()
        self._write(rates)

    def _write(self, rates):
        for number, rate in enumerate(self._rates(self.last_epoch, rates)):
            self._optimizer._set(f"param_groups.{number}.lr", rate)


class LambdaLR(_Computed):
    """The first learning rate times lr_lambda(step), a function or one for each group."""

    def _rates(self, step, rates):
        first = [self._optimizer._get(f"param_groups.{number}.initial_lr") for number in range(len(rates))]
        return [rate * function(step) for rate, function in zip(first, self._functions)]


class MultiplicativeLR(_Computed):
    """The learning rate times lr_lambda(step) at each step, a function or one for each group."""

    def _rates(self, step, rates):
        return [rate * function(step) if step else rate for rate, function in zip(rates, self._functions)]


class _ScaledCycles(_Computed):
    """A CyclicLR whose cycles a function of the user's scales."""

    def __new__(cls, optimizer, scale_fn, scale_mode, options):
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"CyclicLR: scale_mode must be 'cycle' or 'iterations', not {scale_mode!r}")
        made = ScheduleBase.__new__(cls, "CyclicLR", optimizer, {**options, "mode": "triangular", "cycle_momentum": False})
        made._optimizer, made._functions = optimizer, [scale_fn] * optimizer._group_count()
        made._by_cycle, made._ends, made._up = scale_mode == "cycle", (options["base_lr"], options["max_lr"]), options["step_size_up"]
        made._all = made._up + (options["step_size_down"] or made._up)
        made._momentum = (options["base_momentum"], options["max_momentum"]) if options["cycle_momentum"] else None
        made._write(made.get_last_lr())
        return made

    def _rates(self, step, rates):
        cycle, at = step // self._all + 1, step % self._all
        height = at / self._up if at <= self._up else (self._all - at) / (self._all - self._up)
        heights = [height * function(cycle if self._by_cycle else step) for function in self._functions]
        if self._momentum is not None:
            name = "betas.0" if "betas" in type(self._optimizer)._options else "momentum"
            for number, one in enumerate(heights):
                self._optimizer._set(f"param_groups.{number}.{name}", self._momentum[1] - (self._momentum[1] - self._momentum[0]) * one)
        return [self._ends[0] + (self._ends[1] - self._ends[0]) * one for one in heights]


for _row in _schema.describe("optimizers"):
    globals()[_row["name"]] = _class_of(_row, Optimizer)
_bases = {"SequentialLR": _Composed, "ChainedScheduler": _Chained}
_schedules = {row["name"]: _class_of(row, _bases.get(row["name"], Schedule)) for row in _schema.describe("schedules")}


def _cyclic(cls, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0, scale_fn=None, scale_mode="cycle",
            cycle_momentum=True, base_momentum=0.8, max_momentum=0.9):
    options = {"base_lr": base_lr, "max_lr": max_lr, "step_size_up": step_size_up, "step_size_down": step_size_down, "mode": mode, "gamma": gamma,
               "cycle_momentum": cycle_momentum, "base_momentum": base_momentum, "max_momentum": max_momentum}
    if scale_fn is not None:
        return _ScaledCycles(optimizer, scale_fn, scale_mode, options)
    return Schedule.__new__(cls, optimizer, **{name: value for name, value in options.items() if value is not None})


_schedules["CyclicLR"].__new__ = _cyclic
_schedules |= {"LambdaLR": LambdaLR, "MultiplicativeLR": MultiplicativeLR}
globals().update(_schedules)

lr_scheduler = _names.namespace(__name__ + ".lr_scheduler", "The schedules, under the name that PyTorch has them.", _schedules)
__getattr__ = _names.getattr_of(__name__)


def clip_grad_norm(gradients, max_norm):
    """(gradients scaled so that their norm together is at most max_norm, the norm before)."""
    return _thunder.clip(gradients, max_norm, True)


def clip_grad_value(gradients, bound):
    """Each element bounded to [-bound, bound]."""
    return _thunder.clip(gradients, bound, False)
