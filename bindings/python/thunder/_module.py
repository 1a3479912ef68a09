"""nn.Module: parameters, buffers, child modules and a forward function."""
import ast
import copy
import functools

from . import _backward, _checkpoint, _functions, _hooks, _memory_format, _names, _schema, _state, _thunder
from ._create import over_memory
from ._thunder import ModuleBase, Tensor

kinds = {row["name"]: row for row in _schema.describe("modules")}
classes = {}  # of the kinds, by name
PARAMETER, BUFFER, TRANSIENT = 1, 2, 3  # what a tensor is to a module


class _Marked(type):
    """So that isinstance(t, nn.Parameter) says whether t was marked."""

    def __instancecheck__(cls, value):
        return _thunder.is_parameter(value)


class Parameter(metaclass=_Marked):
    """Marks a tensor, which a module that it is assigned to trains: nn.Parameter(t) is t itself."""
    __module__ = "thunder.nn"

    def __new__(cls, data, requires_grad=True):
        made = _thunder.mark_parameter(over_memory(data))
        return made if requires_grad else _backward.requires_grad_(made, False)


class Parameters(list):
    """A module's parameters: a list, of which next() gives the first, as of PyTorch's generator."""

    def __next__(self):
        if not self:
            raise StopIteration
        return self[0]


@functools.cache
def _options_of(kind):
    """{name: what it takes} of the options of a kind."""
    return {} if kind == "Module" else {p.name: p.kind for p in _schema.read(kinds[kind]).parameters}


def _under(prefix, recurse, named):
    return [(f"{prefix}.{path}" if prefix else path, one) for path, one in named if recurse or "." not in path]


class Module(_hooks.Hooked, ModuleBase):
    """Parameters, buffers, child modules and a forward function.

    Derive from it, or give members by name: nn.Module(fc1=nn.Linear(64, 10), scale=nn.Parameter(t)), and its forward
    with set_forward(). Modules that are assigned become children, Parameters parameters; anything else is an attribute,
    which a traced function takes for a constant.
    """
    _kind = "Module"
    __module__ = "thunder.nn"

    def __init__(self, *args, **named):
        schema = _schema.read(kinds[self._kind])
        dtype, device = self._factory_of(schema, named)
        names, types = (tuple(getattr(p, field) for p in schema.parameters) for field in ("name", "kind"))
        own = self._kind == "Module"
        self._make(self._kind, names, types, () if own else args, {} if own else named)
        if own:
            for number, child in enumerate(args):
                setattr(self, str(number), child)
            for name, member in named.items():
                setattr(self, name, member)
        else:
            self._take_children()
        if dtype is not None or device is not None:
            self.to(device=device, dtype=dtype)
        if self._has_forward:
            self._set_forward()

    def _factory_of(self, schema, named):
        """dtype= and device=, which every layer of PyTorch takes, taken out of the names: its tensors are those of the kind, moved."""
        if self._kind == "Module" or kinds[self._kind]["name"].startswith("Lazy"):
            return None, None
        known = {p.name for p in schema.parameters}
        return tuple(named.pop(name, None) if name not in known else None for name in ("dtype", "device"))

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
        cls._has_forward = cls.forward is not Module.forward

    def _take_children(self):
        """Those that the kind has made, with theirs, as attributes."""
        for name in self._child_names():
            self.__dict__[name] = child = self._child(name, classes)
            child._take_children()

    def forward(self, *args, **named):
        """What the module computes; a class of the user's own has one."""
        if not kinds[self._kind]["forward"]:
            raise NotImplementedError(f"{type(self).__name__} has no forward function")
        return _hooks.run_kind(self, args, named, self._is_replaced())

    def compile(self, **options):
        """From now on calls of the module are those of a compiled function, until compile(disable=True). What the module is made of
        is called as ever."""
        self.__dict__["_compiled"] = _functions.compile(Module._call_plain, **options)

    def __call__(self, *args, **named):
        compiled = self.__dict__.get("_compiled")  # the module is its argument, so that a copy of it may have that too
        return compiled(self, *args, **named) if compiled else self._call_plain(*args, **named)

    def _call_plain(self, *args, **named):
        if self._is_replaced() and kinds[self._kind]["forward"]:
            return self._call(*args, **named)  # which comes back to _run()
        return self._run(*args, **named) if self._is_replaced() else self.forward(*args, **named)

    def set_forward(self, function):
        """function(self, ...) as the forward of this module alone. Also a decorator."""
        self.__dict__["forward"] = function.__get__(self)
        self._set_forward()
        return function

    def __setattr__(self, name, value):
        value = _functions.module_of(value)
        if isinstance(value, Tensor) and not value.is_concrete:
            self.__dict__[name] = value  # of a traced function, which assigns what came at the end of each call
        elif isinstance(value, Parameter):
            self._set_tensor(name, value, PARAMETER)
        elif isinstance(value, Tensor) and name in self._own_names():
            self._set_tensor(name, value, self._own_names()[name])
        elif name in _options_of(self._kind) and name not in self.__dict__:
            self._set_option(name, value)
        elif value is None and name in self._own_names():
            self._take_away(name)
        else:
            if isinstance(value, ModuleBase):
                self._add(name, value)
            elif isinstance(self.__dict__.get(name), ModuleBase):
                if value is not None:
                    raise AttributeError(f"the child module {name!r} can only be replaced by a module, or None")
                self._remove(name)
            super().__setattr__(name, value)
            _thunder.touch(name)

    def _set_option(self, name, value):
        """Of its kind: the next call has it."""
        options = _options_of(self._kind)
        if name in self._own_names():
            if value is not None:
                raise TypeError(f"{type(self).__name__}: {name!r} is a tensor, and stays one or becomes None, got {type(value).__name__}")
            self._take_away(name)
        elif isinstance(value, Tensor):
            self._set_tensor(name, value, BUFFER)
        elif value is not None or name != "bias":
            super()._set_option(name, tuple(options), tuple(options.values()), value)

    def _take_away(self, name):
        self._remove_tensor(name)
        self.__dict__.pop("_names", None)
        super().__setattr__(name, None)

    def __delattr__(self, name):
        if isinstance(self.__dict__.get(name), ModuleBase):
            self._remove(name)
        elif name in self._own_names():
            self._take_away(name)
        super().__delattr__(name)
        _thunder.touch(name)

    def _own_names(self):
        """{name: role} of its parameters and buffers, without those of its children."""
        names = self.__dict__.get("_names")
        if names is None:
            trained, saved = self._parameters(), self._state()
            names = self.__dict__["_names"] = {
                path: PARAMETER if path in trained else BUFFER if path in saved else TRANSIENT
                for path in (*saved, *(path for path, _ in self._buffers())) if "." not in path}
        return names

    def _set_tensor(self, name, tensor, role):
        super()._set_tensor(name, tensor, role)
        if "_names" in self.__dict__:
            self._names[name] = role
        if role == PARAMETER:
            _thunder.mark_parameter(tensor)
        self.__dict__.pop(name, None)

    def __getattr__(self, name):
        if not name.startswith("__"):
            role = self._own_names().get(name)
            if role is not None:
                return _thunder.mark_parameter(self._tensor(name)) if role == PARAMETER else self._tensor(name)
            options = self._options()
            if name == "bias" and name in options or name in ("weight", "bias") and False in map(options.get, ("affine", "elementwise_affine")):
                return None  # it was made without, and PyTorch has None there
            if name in options:
                return options[name]
        known = set(self._own_names()) | set(self.__dict__) | set(dir(type(self)))
        raise AttributeError(f"{type(self).__name__} has no member {name!r}{_names.suggest(name, known)}")

    def _options(self):
        """What it was made with, by name, as it is printed: net.fc.in_features."""
        call = ast.parse(f"f({Module.extra_repr(self)})", mode="eval").body
        unprinted = {"inplace": False, "padding_mode": "zeros", "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False,
                     "include_last_offset": False}
        values = {p.name: unprinted[p.name] for p in _schema.read(kinds[self._kind]).parameters if p.name in unprinted}
        values |= {option.arg: ast.literal_eval(option.value) for option in call.keywords}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}

    def __dir__(self):
        return sorted({*super().__dir__(), *self._own_names()})

    def register_parameter(self, name, tensor):
        """Adds a tensor to train, or replaces the one of that name; None: there is none, and the attribute says so."""
        self._register(name, tensor, PARAMETER)

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that is not trained, but moved with the module and, if persistent, saved: a part of state_dict(). None:
        there is none, and the attribute says so."""
        self._register(name, tensor, BUFFER if persistent else TRANSIENT)

    def _register(self, name, tensor, role):
        if tensor is None:
            if name in self._own_names():
                self._remove_tensor(name)
                self.__dict__.pop("_names", None)
            super().__setattr__(name, None)
            _thunder.touch(name)
        else:
            self._set_tensor(name, tensor, role)

    # ---- what it holds ----

    def named_parameters(self, prefix="", recurse=True):
        """(path, tensor) of each parameter, in the order of addition: always the same tensors, a tied one once. recurse: also of
        what is below the module."""
        trained = self._parameters()
        return _under(prefix, recurse, [(path, trained[path]) for path in self._paths() if path in trained])

    def parameters(self, recurse=True):
        """The parameters in that order, as a list."""
        return Parameters(tensor for _, tensor in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True):
        """(path, tensor) of each buffer, in the order of addition, also of those that are not saved."""
        return _under(prefix, recurse, [tuple(named) for named in self._buffers()])

    def buffers(self, recurse=True):
        return [tensor for _, tensor in self.named_buffers(recurse=recurse)]

    def named_children(self):
        """(name, module) of each child."""
        return [(name, member) for name, member in self.__dict__.items() if isinstance(member, ModuleBase)]

    def children(self):
        return [child for _, child in self.named_children()]

    def modules(self):
        """The module itself and all that it is made of."""
        return [self] + [module for child in self.children() for module in child.modules()]

    def named_modules(self, prefix=""):
        """(path, module) of the module itself, whose path is "", and all that it is made of."""
        below = [named for name, child in self.named_children() for named in child.named_modules(prefix + name + ".")]
        return [(prefix.removesuffix("."), self), *below]

    def add_module(self, name, module):
        """Adds a child, as assigning it does."""
        setattr(self, name, module)

    register_module = add_module

    def get_submodule(self, target):
        """The module at a path such as "blocks.0.fc1"; of "" this one."""
        found = dict(self.named_modules())
        if target not in found:
            raise AttributeError(f"{type(self).__name__} has no module {target!r}{_names.suggest(target, found)}")
        return found[target]

    def get_parameter(self, target):
        """The parameter at a path such as "fc1.weight"."""
        return self._found("parameter", target, self._parameters())

    def get_buffer(self, target):
        """The buffer at a path such as "bn.running_mean"."""
        return self._found("buffer", target, dict(self.named_buffers()))

    def _found(self, what, target, tensors):
        if target not in tensors:
            raise AttributeError(f"{type(self).__name__} has no {what} {target!r}{_names.suggest(target, tensors)}")
        return tensors[target]

    def state_dict(self, *, prefix=""):
        """Parameters and buffers by path, in PyTorch's order, of each module before those of what is below it: the module's own
        tensors."""
        state = self._state()
        return {prefix + path: state[path] for path in self._paths()}

    def load_state_dict(self, state, strict=True, assign=False):
        """Copies tensors by path into the module's own, all or nothing; also those of PyTorch, wherever they are. Gives the
        names (missing_keys, unexpected_keys), which strict refuses. assign: the tensors become the module's own, as they are; list
        the parameters, and make optimisers, afterwards."""
        return _state.load_module(self, state, strict, assign)

    def register_load_state_dict_pre_hook(self, hook):
        """Calls hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before names are
        compared: it may rename and drop what is in state_dict, a copy, where the module's names begin with prefix."""
        return _hooks.register(self, "_load_pre_hooks", hook, False)

    def register_load_state_dict_post_hook(self, hook):
        """Calls hook(module, incompatible_keys) after a state was loaded; what it takes out of these lists is not refused."""
        return _hooks.register(self, "_load_post_hooks", hook, False)

    def save(self, path):
        """Writes parameters and buffers to a safetensors file."""
        _checkpoint.refuse_shards("save", self._state())
        self._save(path)

    def load(self, path, strict=True):
        """Reads them into the same tensors; returns the module."""
        self._load(path, strict)
        return self

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__}: modules are not pickled; copy.deepcopy() makes another one, and save() and "
                        "load() keep its state_dict() in a file")

    def __deepcopy__(self, memo):
        return self._filled(self._copy(), memo)

    def _filled(self, made, memo):
        """The copy that the library made of this module, with copies of the attributes."""
        memo[id(self)] = made
        for name, role in self._own_names().items():
            tensor, copied = self._tensor(name), made._tensor(name)
            if memo.setdefault(id(tensor), copied) is copied:
                _backward.carry(tensor, copied, memo)
                memo.setdefault(id(memo), []).append(tensor)  # as long as its id counts
            else:
                made._set_tensor(name, memo[id(tensor)], role)  # it was copied with something else
        for name, child in self.named_children():
            if id(child) in memo:
                made._add(name, memo[id(child)])  # it has another place as well
                made.__dict__[name] = memo[id(child)]
            else:
                made.__dict__[name] = child._filled(made._child(name, {child._kind: type(child)}), memo)
        for name, value in self.__dict__.items():
            if name not in made.__dict__ and name not in ("_names", "_number", "forward"):
                made.__dict__[name] = value if name == "_compiled" else copy.deepcopy(value, memo)
        if "forward" in self.__dict__:
            made.set_forward(self.forward.__func__)
        elif self._is_replaced():
            made._set_forward()
        return made

    # ---- training, device ----

    @property
    def training(self):
        """Whether it trains; a traced function depends on it."""
        return self._training()

    @training.setter
    def training(self, mode):
        if self.named_children() and bool(mode) != self._training():
            raise AttributeError(f"{type(self).__name__}: train() and eval() say whether a module trains, with all that it is made of")
        self._set_training(bool(mode))

    def train(self, mode=True):
        self._set_training(mode)
        return self

    def eval(self):
        return self.train(False)

    def apply(self, function):
        """function(module) of all that it is made of, children first; returns the module."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def to(self, *what, device=None, dtype=None, memory_format=None):
        """Moves its tensors to a device, which stay the same objects; or makes its real ones those of another dtype, which
        are new: list the parameters, and make optimisers, afterwards. to(device), to(dtype), to(device, dtype)."""
        _memory_format.check("to", memory_format)
        for one in what:
            if isinstance(one, (_thunder.dtype, type)):
                dtype = one
            else:
                device = one
        if device is not None:
            self._to(device)
        if dtype is not None:
            before = [(module, {name: module._tensor(name) for name in module._own_names()}) for module in self.modules()]
            self._to_dtype(dtype)
            for module, tensors in before:
                module._hold_again()
                for name, tensor in tensors.items():
                    if module._tensor(name) is not tensor:
                        _backward.carry(tensor, module._tensor(name))
        return self

    def float(self):
        return self.to(_thunder.float32)

    def double(self):
        return self.to(_thunder.float64)

    def bfloat16(self):
        return self.to(_thunder.bfloat16)

    def half(self):
        return self.to(_thunder.float16)

    def cpu(self):
        return self.to("cpu")

    def cuda(self, device=0):
        return self.to(f"cuda:{device}" if isinstance(device, int) else device)

    def zero_grad(self, set_to_none=True):
        """Takes the gradients away that backward() added up, or makes them zeros."""
        for tensor in self.parameters():
            _backward.clear(tensor, set_to_none)

    def requires_grad_(self, requires_grad=True):
        """From now on its parameters are trained, or frozen: backward() and grad_of() give them no gradient, and a step leaves them."""
        for tensor in self.parameters():
            _backward.set_requires_grad(tensor, requires_grad)
        return self

    def extra_repr(self):
        """What stands between the parentheses where it is printed; a class of the user's own may say more."""
        return self._text().partition("\n")[0].removeprefix(self._kind + "(").removesuffix(")")

    def __repr__(self):
        lines = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.named_children()]
        return f"{type(self).__name__}({self.extra_repr()}" + ("\n" + "\n".join(lines) + "\n" if lines else "") + ")"
