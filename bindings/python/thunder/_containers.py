"""Modules of modules, and of parameters: in order, or by name."""
from collections.abc import Mapping

from . import _names
from ._functions import module_of
from ._module import Module
from ._thunder import ModuleBase, Tensor


class _Listed(Module):
    """Children "0", "1" ... in order."""

    def __init__(self, *children):
        super().__init__()
        if len(children) == 1 and not isinstance(module_of(children[0]), ModuleBase):
            children = children[0]
        if isinstance(children, Mapping):
            for name, child in children.items():
                self._name(name, child)
            return
        for child in children:
            self.append(child)

    def _name(self, name, child):
        raise TypeError(f"{type(self).__name__}: its children have numbers: give a list; names are those of ModuleDict and Sequential")

    def append(self, child):
        """Adds a child at the end; returns the module."""
        number, child = len(self), module_of(child)
        if not isinstance(child, ModuleBase):
            raise TypeError(f"{type(self).__name__}: child {number} is no module but {type(child).__name__}")
        setattr(self, str(number), child)
        return self

    def __len__(self):
        return len(self.named_children())

    def __getitem__(self, number):
        found = self.named_children()[number]
        if not isinstance(number, slice):
            return found[1]
        named = dict(found)
        return type(self)(*named.values()) if all(name.isdecimal() for name in named) else type(self)(named)

    def __setitem__(self, number, child):
        try:
            place = range(len(self))[number]
        except IndexError:
            raise IndexError(f"{type(self).__name__}: there is no child {number} among {len(self)}; append() adds one") from None
        setattr(self, self.named_children()[place][0], child)

    def __iter__(self):
        return iter(self.children())

    def __delitem__(self, number):
        """Takes children away; numbers behind them close up."""
        named = self.named_children()
        gone = named[number] if isinstance(number, slice) else [named[number]]
        self._become([child for child in named if child not in gone])

    def insert(self, number, child):
        """Adds a child in front of the one of that number; returns the module."""
        named = self.named_children()
        named.insert(number, (str(len(named)), module_of(child)))
        self._become(named)
        return self

    def pop(self, number=-1):
        """Takes a child away, and returns it."""
        child = self[number]
        del self[number]
        return child

    def extend(self, children):
        """Adds children at the end; returns the module."""
        for child in children:
            self.append(child)
        return self

    def _become(self, named):
        """These children, in this order; those that have numbers get those of their places."""
        for name, _ in self.named_children():
            delattr(self, name)
        for place, (name, child) in enumerate(named):
            setattr(self, str(place) if name.isdecimal() else name, child)


class Sequential(_Listed):
    """Calls its children in order, each with what the one before gave: nn.Sequential(a, b), or an ordered dict of them by name."""
    _kind = "Sequential"

    def _name(self, name, child):
        child = module_of(child)
        if not isinstance(child, ModuleBase):
            raise TypeError(f"Sequential: child {name!r} is no module but {type(child).__name__}")
        if hasattr(type(self), name):
            raise KeyError(f"Sequential: {name!r} is a method of it; take another name")
        setattr(self, name, child)


class ModuleList(_Listed):
    """Children by number, for a forward function that goes through them: nn.ModuleList([a, b])."""
    _kind = "ModuleList"


class _Named(Module):
    """Members by name, as a dict has them; subclasses say what they are."""

    def update(self, members):
        """Adds those of a mapping, or of (name, member) pairs."""
        for name, member in members.items() if isinstance(members, (Mapping, _Named)) else members:
            self[name] = member

    def __setitem__(self, name, member):
        member = module_of(member)
        if not isinstance(member, self._member):
            raise TypeError(f"{self._kind}: {name!r} is no {self._noun} but {type(member).__name__}")
        if hasattr(type(self), name):
            raise KeyError(f"{self._kind}: {name!r} is a method of it; take another name")
        self._put(name, member)

    def __getitem__(self, name):
        members = dict(self.items())
        if name not in members:
            raise KeyError(f"{self._kind}: there is no {name!r}{_names.suggest(name, members)}")
        return members[name]

    def __len__(self):
        return len(self.keys())

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        return name in self.keys()

    def keys(self):
        return [name for name, _ in self.items()]

    def values(self):
        return [member for _, member in self.items()]


class ModuleDict(_Named):
    """Children by name: nn.ModuleDict({"conv": nn.Conv2d(1, 2, 3), "pool": nn.MaxPool2d(2)})."""
    _kind, _member, _noun = "ModuleDict", ModuleBase, "module"
    _put = Module.__setattr__

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def __delitem__(self, name):
        self[name]
        delattr(self, name)

    def pop(self, name):
        """Takes a child away, and returns it."""
        child = self[name]
        del self[name]
        return child

    def clear(self):
        for name in self.keys():
            del self[name]

    def items(self):
        return self.named_children()


class ParameterList(Module):
    """Parameters by number: nn.ParameterList([nn.Parameter(a), nn.Parameter(b)])."""
    _kind = "ParameterList"

    def __init__(self, values=()):
        super().__init__()
        self.extend(values)

    def append(self, value):
        """Adds a tensor to train at the end; returns the module."""
        if not isinstance(value, Tensor):
            raise TypeError(f"ParameterList: element {len(self)} is no tensor but {type(value).__name__}")
        self.register_parameter(str(len(self)), value)
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __len__(self):
        return len(self._own_names())

    def __getitem__(self, number):
        if isinstance(number, slice):
            return type(self)([self[at] for at in range(*number.indices(len(self)))])
        if not -len(self) <= number < len(self):
            raise IndexError(f"ParameterList: {number} is out of range: it has {len(self)} elements")
        return getattr(self, str(number % len(self)))

    def __setitem__(self, number, value):
        self.register_parameter(str(range(len(self))[number]), value)

    def __iter__(self):
        return (self[number] for number in range(len(self)))

    def extra_repr(self):
        return ", ".join(f"({number}): Parameter of shape {tensor.shape}" for number, tensor in enumerate(self))


class ParameterDict(_Named):
    """Parameters by name: nn.ParameterDict({"scale": nn.Parameter(a)})."""
    _kind, _member, _noun = "ParameterDict", Tensor, "tensor"
    _put = Module.register_parameter

    def __init__(self, parameters=None):
        super().__init__()
        self.update(parameters or {})

    def items(self):
        return [(name, getattr(self, name)) for name in self._paths()]

    def extra_repr(self):
        return ", ".join(f"({name}): Parameter of shape {tensor.shape}" for name, tensor in self.items())
