"""What a compiled function depends on beside its arguments: the walk that finds it before a trace, from the function over what its
code names. What is found are places, which the extension compares at each call (src/host.c): cells, items of dicts, and what
containers hold; those of modules, whose changes are counted, are compared after a change alone."""
import collections.abc
import contextvars
import enum
import functools
import gc
import importlib.util
import io
import itertools
import operator
import os
import sys
import types

import numpy

from . import _edges, _frames, _held, _reads, _thunder
from ._libraries import is_library, is_library_class, is_library_module, is_ours
from ._thunder import Compiled, ModuleBase, Tensor

CELL, ITEM, LIST, DICT, SET, CHILDREN, SLOT, SEQUENCE, ARRAY, FUNCTION = range(10)  # kinds of places, as host.c has them
_PRIVATE = {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_names", "_held", "_compiled", "_number"}
_HOOKS = ("forward", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
GRAD = "_grad"  # where a tensor keeps its gradient
_PLAIN = (int, float, complex, str, bytes, type(None), enum.Enum, _thunder.dtype, _thunder.device)
_CONTAINERS = {list: LIST, dict: DICT, set: SET, collections.deque: SEQUENCE}
_DEPTH = 4  # containers inside of containers, of which more are followed up to _MOST
_DISPATCHED = functools.singledispatch.__code__.co_filename
_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
_MOST = 1000  # items that are followed


def _is_namespace(value):
    """An object of a library's class that holds what its users set: a SimpleNamespace, a threading.local."""
    return not isinstance(value, (types.ModuleType, type)) and bool(getattr(value, "__dict__", None)) and not is_ours(type(value))


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None  # empty as yet


class Walk:
    """The places of one trace, and what is there before it."""

    def __init__(self):
        self.places, self._placed = [], set()
        self.holders = {}  # id -> (holder, copy, label): what a function may write into
        self.arrays = {}  # id -> (array of numpy, label)
        self.checks = {}  # what each call begins its writes with
        self._modules, self._objects, self._seen = {}, {}, set()  # by id: [value, label, how many of the names were looked for]
        self._names, self._asked, self._named = {}, set(), 0  # names in the order in which they came, which were asked for by getattr()
        self._queue, self._fresh = collections.deque(), collections.deque()
        self._variables, self._deep = {}, 0  # variables of contexts; how many containers are deep inside of others
        self.inner = {}  # by id: code that visited code makes functions of, whose reads are among that one's
        self.asks_types = False
        asked = _thunder.sharp_edge()
        self.wants_edges, self._at = asked, None  # the place of the code that is visited
        self._warns, self.watches_calls = asked is None, bool(asked)

    def of(self, function, arguments):
        """Adds what this function reads, and what the modules among its arguments are."""
        self._value(function, (), "the function", 0)
        for argument in arguments:
            self._argument(argument)
        self.settle()

    def settle(self):
        """What attributes hold may have code that names more of them, whose values have attributes, and so on."""
        while True:
            while self._queue:
                self._queue.popleft()()
            if self._fresh:
                self._named_members(self._fresh.popleft())
            elif self._named < len(self._names):
                self._named = len(self._names)
                self._fresh.extend([*self._modules.values(), *self._objects.values()])
            else:
                return

    def has_read(self, code, itself):
        """Whether a method, which captures nothing, was looked at with this object."""
        return (id(code), id(None), id(itself)) in self._seen

    def knows(self, value):
        return id(value) in self._objects or id(value) in self._modules

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
        if (id(code), id(function.__closure__), id(itself)) in self._seen:
            return
        self._seen.add((id(code), id(function.__closure__), id(itself)))
        cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        if is_library(code.co_filename):  # which calls functions that it was given, as th.grad() does
            for value in map(_content, cells.values()):
                if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
                    self._callable(value, "a function")
                elif isinstance(value, dict) and code.co_filename == _DISPATCHED:
                    self._value(value, (), "what was registered", 1)
            if function is os.getenv:
                self._environment()
            return
        self._place(FUNCTION, function, None, f"the code or a default of {function.__name__}")
        if function.__kwdefaults__:
            self._place(DICT, function.__kwdefaults__, None, f"the defaults of {function.__name__}")
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._value(default, (), f"a default of {function.__name__}", 1)
        self.read(code, function.__globals__, cells, {code.co_varnames[0]: itself} if code.co_argcount and itself is not None else {})

    def read(self, code, names, cells, arguments):
        """What a code reads of its globals, of captured variables, and of arguments that are known."""
        reads = _reads.of_code(code)
        self._at = f"{code.co_filename}:{code.co_firstlineno}"
        self._names |= dict.fromkeys(reads.names)
        self._asked |= reads.asked
        self.asks_types |= reads.asks_types
        self.inner.update((id(constant), constant) for constant in _reads.inner_codes(code))
        for chain in reads.chains:
            if chain.root == _reads.GLOBAL:
                self._global(names, chain)
            elif chain.root == _reads.CAPTURED and chain.name in cells:
                self._captured(cells[chain.name], chain, code)
            elif chain.root == _reads.IMPORTED:
                self._imported(names, chain)
            elif chain.root == _reads.ARGUMENT and chain.name in arguments and (chain.path or not chain.written):
                itself = arguments[chain.name]
                self._value(itself, chain.path, type(itself).__name__, 0, chain.written)

    def _imported(self, names, chain):
        name = importlib.util.resolve_name(chain.name, names.get("__package__") or "") if chain.name.startswith(".") else chain.name
        module = sys.modules.get(name)
        if isinstance(module, types.ModuleType):
            self._value(module, chain.path, name, 0, chain.written)

    def _global(self, names, chain):
        label = f"global {chain.name!r}"
        if chain.written == _reads.VARIABLE:
            self.hold(names, label)
        if chain.name not in names or chain.written == _reads.VARIABLE:
            self.watches_calls = self.watches_calls or self._warns and chain.name in _edges.BUILTIN
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
            return is_library(value.__code__.co_filename) and not value.__closure__
        return isinstance(value, types.BuiltinFunctionType) or isinstance(value, type) and is_library_class(value)

    # ---- values ----

    def _value(self, value, path, label, depth, written=False):
        """What is read of a value: `path`, the attributes of it that are named."""
        if isinstance(value, (*_PLAIN, Tensor)) and not path:
            return
        if self.wants_edges or self._warns:
            self._look_for_edges(value, path)
        if isinstance(value, numpy.ndarray):
            if value.dtype.kind in "biufc":
                self.arrays.setdefault(id(value), (value, label))
        elif isinstance(value, _held.BYTES):
            self._place(ARRAY, value, None, f"what {label} holds")
        elif isinstance(value, contextvars.ContextVar):
            holder = self._variables.setdefault(value, _held.Current(value))
            self._place(SLOT, holder, "value", label)
            self._value(holder.value, (), label, depth, written)
        elif isinstance(value, Tensor):
            if path[0] in vars(value) and path[0] != GRAD:
                self._members(value, path, label, depth, written)
        elif isinstance(value, types.ModuleType):
            if value is os and path and path[0] in _ENVIRONMENT:
                self._environment()
            if path and path[0] in vars(value) and (not is_library_module(value) or isinstance(vars(value)[path[0]], (int, float, str))):
                inner = f"{value.__name__}.{path[0]}"
                self._place(ITEM, vars(value), path[0], inner)
                self._value(vars(value)[path[0]], path[1:], inner, depth, written)
        elif isinstance(value, ModuleBase):
            self._module(value, label)
            self._members(value, path, label, depth, written)
        elif isinstance(value, (types.FunctionType, types.MethodType, functools.partial, Compiled)):
            self._callable(value, label)
            if isinstance(value, types.FunctionType) and path and (path[0] in vars(value) or not hasattr(type(value), path[0])):
                self._members(value, path, label, depth, written)
        elif isinstance(value, (list, dict, set, tuple, frozenset, collections.deque)):
            self._container(value, label, depth, written)
            own = getattr(value, "__dict__", None)
            if isinstance(own, dict) and (own or not is_library_class(type(value))) and self._object(value, label):
                self._members(value, path, label, depth, written)
        elif isinstance(value, type):
            self._class(value, path, label, depth, written)
        elif value is os.environ:
            self._environment()
        elif (held := _held.contents(value)) is not None:
            for one in held:
                self._value(one, path, label, depth, written)
        elif is_library_class(type(value)) and isinstance(value, collections.abc.Iterator) and not isinstance(value, io.IOBase):
            raise TypeError(f"{label} is an iterator, which a compiled function would read once, while it is traced: call next() outside, and "
                            "give what comes as an argument")
        elif isinstance(value, (operator.attrgetter, operator.methodcaller)):
            asked = {name for path in value.__reduce__()[1] if isinstance(path, str) for name in path.split(".")}
            self._names |= dict.fromkeys(asked)
            self._asked |= asked
        elif is_library_class(type(value)) and callable(getattr(value, "__wrapped__", None)):  # functools.lru_cache()
            self._callable(value.__wrapped__, label)
        elif not is_library_class(type(value)) or _is_namespace(value):
            if not self._object(value, label):
                return
            if written and isinstance(getattr(value, "__dict__", None), dict):
                self.hold(vars(value), label)
            self._members(value, path or ("__call__",), label, depth, written)

    def _look_for_edges(self, value, path):
        if (self.wants_edges or path and type(value) is types.ModuleType and value is numpy) and (drawn := _edges.draws_of_numpy(value, path)):
            _edges.tell(f"{drawn}()", self._at)
        self.watches_calls = self.watches_calls or _edges.may_be_once(value, path)

    def _environment(self):
        """The variables of the process, whose dict is read by calls of it."""
        self._place(DICT, os.environ._data, None, "os.environ")

    def _object(self, value, label):
        """Notes an object, of which all attributes count that code names; whether it is followed."""
        if id(value) not in self._objects:
            if len(self._objects) >= _MOST:
                if self.wants_edges and len(self._objects) == _MOST:
                    _thunder.sharp_edge(f"objects behind {label} are too many to be followed: what they hold is not checked", self._at)
                return False
            self._objects[id(value)] = [value, label, 0]
            self._fresh.append(self._objects[id(value)])
        return True

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
        if written or depth > _DEPTH and self._deep >= _MOST:
            return
        self._deep += depth > _DEPTH
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
            bases = cls.__mro__ if any(path[0] in vars(base) for base in cls.__mro__) else type(cls).__mro__
            self._of_class(cls, path, None if bases is cls.__mro__ else cls, label, depth, written, bases)
        else:
            self._object(cls, label)  # whose objects have its attributes
            if isinstance(vars(cls).get("__init__"), types.FunctionType):
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

    def _named_members(self, noted):
        """All attributes of an object that some code names: it may have got there under another name. Names that were looked for before
        are left out."""
        value, label, before = noted
        noted[2] = len(self._names)
        names = list(itertools.islice(self._names, before, None))
        own, asked = getattr(value, "__dict__", {}), set(names) & self._asked
        if "*" in names:  # it may be any, also one that is not there
            bases = [vars(base) for base in type(value).__mro__ if not is_library_class(base)]
            names, asked = [*self._names, *own, *(name for base in bases for name in base if name[:2] != "__")], self._asked
        if isinstance(value, type):
            for name in names:
                self._of_class(value, (name,), None, value.__name__, 1, 0)
            return
        for name in asked - {"*"}:
            if name not in own and not hasattr(type(value), name):
                self._in_class(type(value), name, None, "")  # it may get one
        if isinstance(value, ModuleBase):
            return self._attributes(value, label, names, asked, before == 0)
        for name in dict.fromkeys(names):
            if name in own:
                self._place(ITEM, own, name, f"{label}.{name}")
                self._value(own[name], (), f"{label}.{name}", 1)
            elif hasattr(type(value), name):
                self._of_class(type(value), (name,), value, label, 1, 0)
            elif isinstance(own, dict) and name in asked:
                self._place(ITEM, own, name, f"{label}.{name}")

    def _of_class(self, cls, path, itself, label, depth, written, bases=None):
        bases = bases or cls.__mro__
        for base in bases:
            if path[0] not in vars(base):
                continue
            for before in bases[:bases.index(base)]:
                self._in_class(before, path[0], None, label)  # which may get one that comes first
            value = vars(base)[path[0]]
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType):
                self._in_class(base, path[0], itself, label)
                self._queue.append(lambda: self._code(function, cls if isinstance(value, classmethod) else itself))
            elif isinstance(value, functools.partialmethod):
                self._in_class(base, path[0], itself, label)
                self._value(value, (), f"{base.__name__}.{path[0]}", depth, written)
            elif isinstance(value, types.MemberDescriptorType) and itself is not None:
                self._place(SLOT, itself, path[0], f"{label}.{path[0]}")
                self._value(getattr(itself, path[0], None), path[1:], f"{label}.{path[0]}", depth, written)
            elif not is_library_class(base) and not hasattr(type(value), "__get__"):
                self._in_class(base, path[0], itself, label)
                self._value(value, path[1:], f"{base.__name__}.{path[0]}", depth, written)
            return

    def in_classes(self, value, code):
        """Where the classes of a value have a function of this code: another one may come into its place, or before it."""
        for base in (value if isinstance(value, type) else type(value)).__mro__:
            self._in_class(base, code.co_name, None, "")
            function = _frames.function_in(vars(base).get(code.co_name))
            if function is not None and function.__code__ is code:
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
            self._modules[id(module)] = [module, f"{type(root).__name__}.{path}" if path else type(root).__name__, 0]
            self._fresh.append(self._modules[id(module)])
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

    def _attributes(self, module, label, names, asked, is_new):
        """Those that code names; what it is made of, and its hooks."""
        own = vars(module)
        self.hold(module, label)
        if is_new:
            self._place(CHILDREN, module, None, f"what {label} is made of", True)
        for name in _HOOKS if is_new else ():
            self._place(ITEM, own, name, f"{label}.{name}", True)
            if name != "forward" and name in own:
                self._place(DICT, own[name], None, f"the hooks of {label}", True)
        for name in names:
            if name in _PRIVATE:
                continue
            if name in own:
                value = own[name]
                if not isinstance(value, ModuleBase) and name != "forward":
                    self._place(ITEM, own, name, f"{label}.{name}", True)
                    if isinstance(value, (list, dict, set, tuple, numpy.ndarray)):
                        self._value(value, (), f"{label}.{name}", 0)
            elif name in asked and name != "*" and not hasattr(type(module), name):
                self._place(ITEM, own, name, f"{label}.{name}", True)  # it may ask for one that is not there yet
