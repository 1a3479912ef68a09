"""Thunder for Python by SWIG: a trial of the shared interface. The package to use is `thunder`, written by hand.

    import thunder_swig as th
    x = th.tensor([[1.0, 2.0], [3.0, 4.0]])
    f = th.compile(lambda a: (a.matmul(a) + 1).relu().sum())
    print(f(x).item())
"""
import array
import sys
import weakref

import thunder_core as core

_raised = {}  # exceptions on their way through the library, by ticket
_closures = weakref.WeakValueDictionary()  # what owns a closure, by ticket
_LETTERS = {"bool": "B", "u8": "B", "i32": "i", "i64": "q", "f32": "f", "f64": "d"}


class Error(RuntimeError):
    """What the library refused; `code` is the number of thunder.h. What a function raised comes back as itself."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


# ---- between Python's values and what the core's calls carry ----

def _put(call, value):
    if value is None:
        call.none()
    elif isinstance(value, Tensor):
        call.tensor(value._core)
    elif isinstance(value, bool):
        call.flag(value)
    elif isinstance(value, int):
        call.integer(value)
    elif isinstance(value, float):
        call.real(value)
    elif isinstance(value, str):
        call.text(value)
    elif isinstance(value, dict):
        call.open_map()
        _put_named(call, value)
        call.close()
    elif isinstance(value, (list, tuple)):
        call.open_list()
        for element in value:
            _put(call, element)
        call.close()
    else:
        raise TypeError(f"a {type(value).__name__} cannot go into the library")


def _put_named(call, named):
    for name, value in named.items():
        call.key(name)
        _put(call, value)


def _take_map(call):
    found = {}
    while (kind := call.next()) != core.ITEM_CLOSE:
        name = call.name()
        found[name] = _take(call, kind)
    return found


_TAKERS = {core.ITEM_BOOLEAN: lambda call: call.as_integer() != 0, core.ITEM_INTEGER: lambda call: call.as_integer(),
           core.ITEM_REAL: lambda call: call.as_real(), core.ITEM_TEXT: lambda call: call.as_text(),
           core.ITEM_TENSOR: lambda call: Tensor(call.as_tensor()), core.ITEM_MAP: _take_map,
           core.ITEM_LIST: lambda call: _take_until(call, core.ITEM_CLOSE), core.ITEM_NONE: lambda call: None}


def _take(call, kind):
    return _TAKERS[kind](call)


def _take_until(call, end):
    found = []
    while (kind := call.next()) != end:
        found.append(_take(call, kind))
    return found


def _perform(action, *own, args=(), named=None):
    """One value, or a list of several, or an object of the core. Raises what went wrong."""
    call = core.Call()
    for value in args:
        _put(call, value)
    if named:
        _put_named(call, named)
    made = getattr(call, action)(*own)
    if call.failed():
        raise _raised.get(call.ticket()) or Error(call.message(), call.code())
    if made is not True:
        return made
    found = _take_until(call, core.ITEM_END)
    return found[0] if len(found) == 1 else found or None


def _new_ticket():
    while dropped := core.next_dropped():
        _raised.pop(dropped, None)
    return core.new_ticket()


def _place():
    if not core.is_tracing():
        return ""
    frame = sys._getframe(1)
    while frame and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""


def _dispatch(ticket):
    call = core.callback()
    try:
        owner = _closures.get(ticket)
        if owner is None:
            raise Error("the function was collected: keep what was compiled")
        value = owner.closure(*_take_until(call, core.ITEM_END))
        call.reset()
        _put(call, value)
    except BaseException as thrown:
        raised = _new_ticket()
        _raised[raised] = thrown
        call.fail(f"{type(thrown).__name__}: {thrown}", raised)


core.set_dispatch(_dispatch)


# ---- what users call ----

class Tensor:
    def __init__(self, made):
        self._core = made

    dtype = property(lambda self: self._core.dtype())
    shape = property(lambda self: tuple(self._core.size(axis) for axis in range(self._core.rank())))

    def tolist(self):
        """Nested lists; of a tensor without axes, the number."""
        if self.dtype == "bf16":
            return self.to("f32").tolist()
        call = core.Call()
        call.read(self._core)
        if call.failed():
            raise Error(call.message(), call.code())
        flat = array.array(_LETTERS[self.dtype], call.data()).tolist()
        if self.dtype == "bool":
            flat = [element != 0 for element in flat]
        for count in reversed(self.shape[1:]):
            flat = [flat[at:at + count] for at in range(0, len(flat), count)] if count else []
        return flat if self.shape else flat[0]

    def item(self):
        if set(self.shape) - {1}:
            raise Error("item: the tensor has not one element", 3)
        return self.reshape([]).tolist()

    def __repr__(self):
        return f"tensor({self.tolist()}, {self.dtype})" if self._core.is_concrete() else f"tensor(traced, {self.dtype})"


def tensor(values, dtype=None):
    """Of nested lists, or of one number: i64 when all are integers, else f32."""
    if dtype == "bf16":
        return tensor(values, "f32").to("bf16")
    shape, flat = [], [values]
    while flat and isinstance(flat[0], (list, tuple)):
        if len({len(row) if isinstance(row, (list, tuple)) else -1 for row in flat}) > 1:
            raise Error("lists of a tensor must be of equal size", 3)
        shape.append(len(flat[0]))
        flat = [element for row in flat for element in row]
    kinds = {type(element) for element in flat}
    dtype = dtype or ("i64" if kinds == {int} else "bool" if kinds == {bool} else "f32")
    if dtype not in _LETTERS:
        raise Error(f"there is no dtype {dtype}", 5)
    return _perform("create", dtype, array.array(_LETTERS[dtype], flat), args=shape)


class Compiled:
    """A function of tensors, compiled; call it."""

    def __init__(self, closure, options, function=None, base=None):
        self.closure, self._base = closure, base
        if function is None:
            ticket = _new_ticket()
            _closures[ticket] = self
            function = _perform("make_function", getattr(closure, "__name__", ""), ticket)
        self._function = function
        self._core = _perform("compile", function, named=options)

    def __call__(self, *args):
        return _perform("call", self._core, args=args)

    def value_and_grad(self, wrt="", captured=None, **options):
        """The same function, returning its results and the gradients of the first."""
        made = _perform("value_and_grad", self._function, wrt, args=[captured] if captured else ())
        return Compiled(None, options, made, self)

    def traces(self):
        return [self._core.trace(stage) for stage in range(self._core.trace_count())]

    def stats(self):
        return _perform("statistics", self._core)


def compile(closure, **options):
    return Compiled(closure, options)


def grad_of(loss, wrt):
    """In a compiled function: the gradients of a loss, in the structure of wrt."""
    return _perform("grad_of", args=[loss, wrt])


class Module:
    """A layer or a tree of layers, of the kinds that the library has."""

    def __init__(self, kind, *args, **named):
        self._core = _perform("make_module", kind, args=args, named=named)
        self._children = {}

    def add(self, name, child):
        _perform("add_child", self._core, str(name), child._core)
        self._children[name] = child
        return self

    def __call__(self, *args):
        return _perform("forward", self._core, args=args)

    def parameters(self):
        return _perform("parameters", self._core)

    def load(self, path):
        _perform("load", self._core, path)
        return self

    def save(self, path):
        _perform("save", self._core, path)


def read_csv(path):
    return _perform("read_csv", path)


def read_safetensors(path):
    return _perform("read_safetensors", path)


def describe(what):
    return _perform("describe", what)


def _op(name, doc):
    def call(*args, **named):
        return _perform("op", name, _place(), args=args, named=named)
    call.__name__, call.__doc__ = name, doc
    return call


def _define_op(row):
    """thunder_swig.NAME and, when a tensor comes first, Tensor.NAME."""
    for name in [row["name"]] + ([row["name"] + "_"] if row["inplace"] else []):
        globals()[name] = made = _op(name, f"{row['schema']}\n{row['doc']}")
        if row["parameters"] and row["parameters"][0]["kind"] == "tensor":
            setattr(Tensor, name, made)


for _row in describe("ops"):
    _define_op(_row)


class _Kept:
    def __init__(self, closure):
        self.closure = closure


_kept = {}  # what owns a closure of an op


def _keep(closure):
    ticket = _new_ticket()
    _closures[ticket] = _kept[ticket] = _Kept(closure)
    return ticket


def add_op(schema, doc, closure, vjp=None):
    """An op of your own, for ever: the closure computes it from its arguments by other ops.

    vjp gets lists of the arguments, the results, their cotangents and which gradients are wanted, and returns a gradient for
    each argument; without it, it is that of the closure.
    """
    _perform("add_op", schema, doc, _keep(closure), _keep(vjp) if vjp else 0)
    for row in describe("ops"):
        if schema.startswith(row["name"] + "("):
            _define_op(row)


def add_pass(name, rules, before="", after=""):
    """Rules such as "div(a, sqrt(b)) -> mul(a, rsqrt(b))", as a pass of every compile from now on."""
    _perform("add_pass", name, before, after, args=rules)


for _name, _op_name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "matmul": "matmul"}.items():
    _call = globals()[_op_name]
    setattr(Tensor, f"__{_name}__", lambda self, other, _call=_call: _call(self, other))
    setattr(Tensor, f"__r{_name}__", lambda self, other, _call=_call: _call(other, self))
Tensor.__neg__ = lambda self: self.neg()
