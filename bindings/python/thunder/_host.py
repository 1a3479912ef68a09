"""What a compiled function depends on beside its arguments: the walk that finds it before a trace, from the function over what its
code names. What is found are places, which the extension compares at each call (src/host.c): cells, items of dicts, and what
containers hold; those of modules, whose changes are counted, are compared after a change alone."""
import collections.abc
import enum
import functools
import gc
import io
import types

import numpy

from . import _edges, _reads, _thunder
from ._libraries import is_library, is_library_class, is_library_module
from ._thunder import Compiled, ModuleBase, Tensor

CELL, ITEM, LIST, DICT, SET, CHILDREN, SLOT, SEQUENCE, ARRAY = range(9)  # kinds of places, as host.c has them
_HOOKS = ("forward", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
GRAD = "_grad"  # where a tensor keeps its gradient
_PLAIN = (int, float, complex, str, bytes, type(None), enum.Enum, _thunder.dtype, _thunder.device)
_CONTAINERS = {list: LIST, dict: DICT, set: SET, collections.deque: SEQUENCE}
_DEPTH = 4  # containers inside of containers
_MOST = 1000  # items that are followed


class Walk:
    """The places of one trace, and what is there before it."""

    def __init__(self):
        self.places, self._placed = [], set()
        self.holders = {}  # id -> (holder, copy, label): what a function may write into
        self.arrays = {}  # id -> (array of numpy, label)
        self._modules, self._objects, self._seen, self._names = {}, {}, set(), set()
        self._queue = collections.deque()
        self.asks_types = False
        self.wants_edges, self._at = _thunder.sharp_edge(), None  # the place of the code that is visited

    def of(self, function, arguments):
        """Adds what this function reads, and what the modules among its arguments are."""
        self._value(function, (), "the function", 0)
        for argument in arguments:
            self._argument(argument)
        known = None
        while known != (known := (len(self._names), len(self._seen), len(self.places))):
            self._visit_code()  # what attributes hold may have code that names more of them
            for module, label in list(self._modules.values()):
                self._attributes(module, label)
            for value, label in list(self._objects.values()):
                self._named_members(value, label)
            self._visit_code()

    def _visit_code(self):
        while self._queue:
            self._queue.popleft()()

    def _place(self, kind, holder, key, label, quiet=False):
        if (kind, id(holder), key) not in self._placed:
            self._placed.add((kind, id(holder), key))
            self.places.append((kind, holder, key, quiet, label))

    def hold(self, holder, label):
        """Notes what it holds, before the function writes into it; whether that was new."""
        if id(holder) in self.holders:
            return False
        content = (dict(vars(holder)) if isinstance(holder, ModuleBase) else holder.cell_contents if isinstance(holder, types.CellType)
                   else holder.copy())
        self.holders[id(holder)] = holder, content, label
        return True

    def _argument(self, value):
        if isinstance(value, ModuleBase):
            self._module(value, "an argument")
        elif isinstance(value, (list, tuple)):
            for item in value:
                self._argument(item)
        elif isinstance(value, dict):
            for item in value.values():
                self._argument(item)
        elif not isinstance(value, (*_PLAIN, Tensor, range, slice, set, frozenset)):
            self._value(value, (), "an argument", 0)

    # ---- code ----

    def _code(self, function, itself=None):
        """The chains of a function of Python; `itself`: its first argument, where that is known."""
        code = function.__code__
        if (id(code), id(function.__closure__), id(itself)) in self._seen or is_library(code.co_filename):
            return
        self._seen.add((id(code), id(function.__closure__), id(itself)))
        reads = _reads.of_code(code)
        self._at = f"{code.co_filename}:{code.co_firstlineno}"
        self._names |= reads.names
        self.asks_types |= reads.asks_types
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._value(default, (), f"a default of {function.__name__}", 1)
        cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        first = code.co_varnames[0] if code.co_argcount else None
        for chain in reads.chains:
            if chain.root == _reads.GLOBAL:
                self._global(function.__globals__, chain)
            elif chain.root == _reads.CAPTURED and chain.name in cells:
                self._captured(cells[chain.name], chain, code)
            elif chain.root == _reads.ARGUMENT and itself is not None and chain.name == first and (chain.path or not chain.written):
                self._value(itself, chain.path, type(itself).__name__, 0, chain.written)

    def _global(self, names, chain):
        label = f"global {chain.name!r}"
        if chain.written == _reads.VARIABLE:
            self.hold(names, label)
        if chain.name not in names or chain.written == _reads.VARIABLE:
            return  # a builtin, or one that the function makes
        value = names[chain.name]
        if not isinstance(value, types.ModuleType) and not self._is_ours(value):
            self._place(ITEM, names, chain.name, label)
        self._value(value, chain.path, label, 0, chain.written)

    def _captured(self, cell, chain, code):
        label = f"{chain.name!r}, captured by {code.co_qualname if hasattr(code, 'co_qualname') else code.co_name}"
        try:
            value = cell.cell_contents
        except ValueError:
            return  # empty as yet
        if chain.written == _reads.VARIABLE:
            return self.hold(cell, label)
        self._place(CELL, cell, None, label)
        self._value(value, chain.path, label, 0, chain.written)

    @staticmethod
    def _is_ours(value):
        """A function or a class of a library: nobody gives its name to another one."""
        if isinstance(value, types.FunctionType):
            return is_library(value.__code__.co_filename)
        return isinstance(value, types.BuiltinFunctionType) or isinstance(value, type) and is_library_class(value)

    # ---- values ----

    def _value(self, value, path, label, depth, written=False):
        """What is read of a value: `path`, the attributes of it that are named."""
        if isinstance(value, (*_PLAIN, Tensor)) and not path:
            return
        if self.wants_edges and (drawn := _edges.draws_of_numpy(value, path)):
            _edges.tell(f"{drawn}()", self._at)
        if isinstance(value, numpy.ndarray):
            if value.dtype.kind in "biufc":
                self.arrays.setdefault(id(value), (value, label))
        elif isinstance(value, types.ModuleType):
            if path and not is_library_module(value) and path[0] in vars(value):
                inner = f"{value.__name__}.{path[0]}"
                self._place(ITEM, vars(value), path[0], inner)
                self._value(vars(value)[path[0]], path[1:], inner, depth, written)
        elif isinstance(value, ModuleBase):
            self._module(value, label)
            self._members(value, path, label, depth, written)
        elif isinstance(value, (types.FunctionType, types.MethodType, functools.partial, Compiled)):
            self._callable(value, label)
        elif isinstance(value, (list, dict, set, tuple, frozenset, collections.deque)):
            self._container(value, label, depth, written)
        elif isinstance(value, type):
            self._class(value, path, label, depth, written)
        elif is_library_class(type(value)) and isinstance(value, collections.abc.Iterator) and not isinstance(value, io.IOBase):
            raise TypeError(f"{label} is an iterator, which a compiled function would read once, while it is traced: call next() outside, and "
                            "give what comes as an argument")
        elif not is_library_class(type(value)):
            self._objects.setdefault(id(value), (value, label))
            if written and isinstance(getattr(value, "__dict__", None), dict):
                self.hold(vars(value), label)
            self._members(value, path or ("__call__",), label, depth, written)

    def _callable(self, value, label):
        if isinstance(value, types.MethodType):
            self._queue.append(lambda: isinstance(value.__func__, types.FunctionType) and self._code(value.__func__, value.__self__))
            if isinstance(value.__self__, ModuleBase):
                self._module(value.__self__, label)
        elif isinstance(value, functools.partial):
            for part in (value.func, *value.args, value.keywords):
                self._value(part, (), label, 1)
        elif isinstance(value, types.FunctionType):
            self._queue.append(lambda: self._code(value))

    def _container(self, value, label, depth, written):
        if isinstance(value, (list, dict, set, collections.deque)):
            self.hold(value, label)
        if depth > _DEPTH or written:
            return
        kind = next((kind for cls, kind in _CONTAINERS.items() if isinstance(value, cls)), None)
        if kind is not None:
            self._place(kind, value, None, f"what {label} holds")
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if self.wants_edges and len(value) > _MOST:
            _thunder.sharp_edge(f"what {label} holds is too much to be followed: what its items hold is not checked", self._at)
        for item in (value.values() if isinstance(value, dict) else value) if len(value) <= _MOST else ():
            self._value(item, (), f"what {label} holds", depth + 1)

    def _class(self, cls, path, label, depth, written):
        if is_library_class(cls):
            return
        if path:
            self._of_class(cls, path, None, label, depth, written)
        elif isinstance(vars(cls).get("__init__"), types.FunctionType):
            self._queue.append(lambda: self._code(vars(cls)["__init__"]))

    def _members(self, value, path, label, depth, written):
        """An attribute of an object, by name."""
        if not path:
            return
        own = getattr(value, "__dict__", None)
        if isinstance(own, dict) and path[0] in own:
            inner = f"{label}.{path[0]}"
            is_module = isinstance(value, ModuleBase)
            if not is_module:
                self.hold(own, label)
            if not written or len(path) > 1 or isinstance(own[path[0]], (list, dict, set)):
                if not is_module and not (written and len(path) == 1):
                    self._place(ITEM, own, path[0], inner)
                self._value(own[path[0]], path[1:], inner, depth, written)
        else:
            self._of_class(type(value), path, value, label, depth, written)

    def _named_members(self, value, label):
        """All attributes of an object that some code names: it may have got there under another name."""
        own, names = getattr(value, "__dict__", {}), self._names
        if "*" in names:  # it may be any, also one that is not there
            names = names | own.keys() | {name for base in type(value).__mro__ if not is_library_class(base) for name in vars(base) if name[:2] != "__"}
        for name in names:
            if name in own:
                self._place(ITEM, own, name, f"{label}.{name}")
                self._value(own[name], (), f"{label}.{name}", 1)
            elif hasattr(type(value), name):
                self._of_class(type(value), (name,), value, label, 1, 0)
            elif own and "*" in names:
                self._place(ITEM, own, name, f"{label}.{name}")

    def _of_class(self, cls, path, itself, label, depth, written):
        for base in cls.__mro__:
            if path[0] not in vars(base):
                continue
            value = vars(base)[path[0]]
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType):
                self._in_class(base, path[0], itself, label)
                self._queue.append(lambda: self._code(function, cls if isinstance(value, classmethod) else itself))
            elif isinstance(value, types.MemberDescriptorType) and itself is not None:
                self._place(SLOT, itself, path[0], f"{label}.{path[0]}")
                self._value(getattr(itself, path[0], None), path[1:], f"{label}.{path[0]}", depth, written)
            elif not is_library_class(base) and not hasattr(type(value), "__get__"):
                self._in_class(base, path[0], itself, label)
                self._value(value, path[1:], f"{base.__name__}.{path[0]}", depth, written)
            return

    def _in_class(self, base, name, itself, label):
        """What a class of the user's has under a name, and the object, which may get one of its own."""
        if is_library_class(base):
            return
        if isinstance(getattr(itself, "__dict__", None), dict):
            self._place(ITEM, vars(itself), name, f"{label}.{name}", isinstance(itself, ModuleBase))
        self._place(ITEM, gc.get_referents(vars(base))[0], name, f"{base.__name__}.{name}")

    # ---- modules ----

    def _module(self, root, label):
        if id(root) in self._modules:
            return
        for path, module in root.named_modules():
            if id(module) in self._modules:
                continue
            self._modules[id(module)] = module, f"{type(root).__name__}.{path}" if path else type(root).__name__
            for name in ("forward", "__call__"):
                forward = vars(module).get(name) or getattr(type(module), name, None)
                function = getattr(forward, "__func__", forward)
                for base in type(module).__mro__:
                    if name in vars(base):
                        self._in_class(base, name, None, "")
                        break
                if isinstance(function, types.FunctionType):
                    self._queue.append(lambda function=function, module=module: self._code(function, module))
            for hooks in (vars(module).get(name) for name in _HOOKS[1:]):
                for hook, *_ in (hooks or {}).values():
                    self._value(hook, (), "a hook", 1)

    def _attributes(self, module, label):
        """Those that code names; what it is made of, and its hooks."""
        own = vars(module)
        self.hold(module, label)
        self._place(CHILDREN, module, None, f"what {label} is made of", True)
        for name in _HOOKS:
            self._place(ITEM, own, name, f"{label}.{name}", True)
            if name != "forward" and name in own:
                self._place(DICT, own[name], None, f"the hooks of {label}", True)
        for name, value in own.items():
            if name not in self._names and "*" not in self._names or name.startswith("_") and name in (*_HOOKS, "_names", "_held", "_compiled", "_number"):
                continue
            if not isinstance(value, ModuleBase) and name != "forward":
                self._place(ITEM, own, name, f"{label}.{name}", True)
                if isinstance(value, (list, dict, set, tuple, numpy.ndarray)):
                    self._value(value, (), f"{label}.{name}", 0)
        if "*" in self._names and not is_library_class(type(module)):  # it may ask for one that is not there yet
            for name in self._names - own.keys() - {"*"}:
                if not hasattr(type(module), name):
                    self._place(ITEM, own, name, f"{label}.{name}", True)
