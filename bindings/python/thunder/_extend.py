"""Ops, executors and passes of the user's own; what is registered is an equal of the library's, for as long as the process."""
from . import _names, _ops, _schema, _thunder
from ._cuda_kernel import Kernel
from ._create import asarray

_INPLACE, _ELEMENTWISE, _EFFECTS, _NOT_DIFFERENTIABLE = 1, 2, 4, 8


class Node:
    """A line of a trace, as it is given to checkers and meta functions. Its tensors have a shape and a dtype, no elements.

    op: what the line calls. inputs, outputs: its tensors; None: an optional one that is absent. args: what is no tensor, by
    name. where: the user's "file:line". executor: who runs it, "" before that is known. input_values, output_values: equal
    numbers are one value. lines: what a region is made of.
    """

    def __init__(self, op, inputs, outputs, args, where, executor, input_values, output_values, lines):
        self.op, self.inputs, self.outputs, self.args = op, inputs, outputs, args
        self.where, self.executor = where, executor
        self.input_values, self.output_values = input_values, output_values
        self.lines = tuple(Node(*line) for line in lines)

    def __repr__(self):
        return f"<line {self.op} of {self.where or 'nowhere'}>"

    def forward(self, *inputs):
        """A region's results of these inputs: its lines one by one."""
        values = dict(zip(self.input_values, inputs))
        for line in self.lines:
            row = _row_of("forward", line.op)
            names, kinds = zip(*((p["name"], p["kind"]) for p in row["parameters"])) if row["parameters"] else ((), ())
            # A plain number is among the arguments, an absent tensor is None.
            read = [values.get(number) for given, number in zip(line.inputs, line.input_values) if given is None or number is not None]
            results = _ops._make(row, line.op)[0](*_arguments(kinds, read, [line.args.get(name) for name in names]))
            values.update(zip(line.output_values, _tuple(results)))
        return tuple(values[number] for number in self.output_values)


class Context:
    """What a gradient is told of the call: args, results, and which of the arguments want a gradient."""

    def __init__(self, args, results, needs_input_grad):
        self.args, self.results, self.needs_input_grad = args, results, needs_input_grad


# ---- kernels: functions that compute ----

def _arguments(kinds, inputs, others):
    """An op's arguments in order. Tensors come from the call, where a number stands for one it is among the others; a list of
    tensors takes what the single ones leave."""
    singles = [kind == "tensor" and other is None for kind, other in zip(kinds, others)]
    inputs, rest = iter(inputs), len(inputs) - sum(singles)
    for kind, other, single in zip(kinds, others, singles):
        if single:
            yield next(inputs)
        elif kind == "tensor[]":
            yield [next(inputs) for _ in range(rest)]
        else:
            yield other


def _tuple(results):
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def _results(who, results):
    made = []
    for one in _tuple(results):
        try:
            made.append(asarray(one))
        except TypeError as error:
            raise TypeError(f"{who}: result {len(made) + 1} of its kernel must be a tensor or an array: {error}") from None
    return tuple(made)


_rows = {}  # of the registry, which only grows


def _row_of(who, op):
    name = op if isinstance(op, str) else getattr(op, "__name__", repr(op))
    if name not in _rows:
        _rows.update((row["name"], row) for row in _schema.describe("ops"))
    if name not in _rows:
        raise ValueError(f"{who}: there is no op {name!r}{_names.suggest(name, _rows)}")
    if [p["kind"] for p in _rows[name]["parameters"]].count("tensor[]") > 1:
        raise ValueError(f"{who}: {name} takes more than one list of tensors: a function cannot tell where the first ends")
    return _rows[name]


# ---- ops ----

def _types(results):
    """What a meta function gives, with its shapes as tuples."""
    if isinstance(results, tuple) and len(results) == 2 and not isinstance(results[0], (tuple, _thunder.Tensor)):
        results = (results,)
    return tuple(one if isinstance(one, _thunder.Tensor) else (one[0], tuple(one[1])) for one in _tuple(results))


def op(schema, *, meta=None, vjp=None, doc="", inplace=False, elementwise=False, effects=False, not_differentiable=False, cuda=None):
    """A decorator: the function, of tensors and constants as the schema has them, becomes an op.

        @th.op("square_plus(tensor x, float c=1.0) -> tensor")
        def square_plus(x, c):
            return x * x + c

    It is traced: types, gradient and what runs follow from it. With a meta function it is not traced but called, with
    tensors that have elements, each time the op runs, and may use numpy or anything else:

        @th.op("median(tensor x) -> tensor", meta=lambda line: (line.inputs[0].dtype, ()))
        def median(x):
            return numpy.median(x)

    meta(line) gives the type of each result: a tensor that it is like, or (dtype, shape). vjp(ctx, *cotangents) gives a
    gradient for each argument, None for none: a tuple, or the one of a single argument; ctx has args, what the op was given, in the schema's
    order, results, what it gave, and needs_input_grad, which of the arguments want a gradient. Without one a gradient that passes
    through what meta describes is an error, unless not_differentiable says that none does. inplace adds the form NAME_, elementwise
    lets a result take the memory of an input, effects says that calling it is the point: it is never merged or dropped. The name may
    have a part in front, such as "mine.square_plus". cuda, a th.cuda.Kernel, runs it on CUDA devices; with a meta function the
    decorated one may then be None: there is no kernel for the CPU.
    """
    def register(function):
        def gradient(args, results, cotangents, needs):
            return vjp(Context(args, results, needs), *cotangents)

        text = doc or (getattr(function, "__doc__", None) or "").strip().partition("\n")[0] or schema.partition("(")[0].strip()
        flags = inplace * _INPLACE + elementwise * _ELEMENTWISE + effects * _EFFECTS + not_differentiable * _NOT_DIFFERENTIABLE
        _thunder.add_op(schema, text, flags, None if meta else function, (lambda fields: _types(meta(Node(*fields)))) if meta else None,
                        gradient if vjp else None)
        name = schema.partition("(")[0].strip()
        row = _row_of("op", name)
        if cuda:
            _thunder.add_cuda_kernel(name, cuda._fields)
        if meta and function:
            kinds = [p["kind"] for p in row["parameters"]]
            _thunder.add_kernel(name, (name, lambda inputs, args: _results(name, function(*_arguments(kinds, inputs, args)))), len(kinds))
        return _ops._make(row, name)[0]

    if not isinstance(schema, str):
        raise TypeError(f"op: a schema such as 'name(tensor x) -> tensor' was expected, not {type(schema).__name__}")
    if cuda is not None and not isinstance(cuda, Kernel):
        raise TypeError(f"op: cuda must be a th.cuda.Kernel, got {type(cuda).__name__}")
    return register


# ---- executors ----

def _kernels_by_op(name, kernels):
    made = {}
    for op, kernel in kernels.items():
        if not isinstance(kernel, Kernel):
            raise TypeError(f"executor {name!r}: the kernel of {op!r} must be a th.cuda.Kernel, got {type(kernel).__name__}")
        made[_row_of(f"executor {name!r}", op)["name"]] = kernel
    return made


class Executor(_thunder.Executor):
    """What runs ops: see executor()."""

    def __new__(cls, name, claim=None, claim_region=None, prepare=None, kernels=None):
        entries, kernels = {}, _kernels_by_op(name, kernels or {})
        made = super().__new__(cls, name, None if claim or kernels else entries, claim_region is not None,
                               {op: kernel._fields for op, kernel in kernels.items()})
        made._kernels = kernels
        made.name, made._entries, made._own_claim, made._regions, made._own_prepare = name, entries, claim, claim_region, prepare
        return made

    def __repr__(self):
        return f"<executor {self.name}>"

    def implements(self, op, *, checker=None, prepare=False, transform=None):
        """A decorator: the function runs the op, given by its name or as a function, instead of the executors after this.

            @mine.implements("softmax", checker=lambda line: line.inputs[0].ndim == 2)
            def softmax(x, dim, dtype):
                return special.softmax(x.numpy(), axis=dim)

        It gets the op's arguments in the schema's order, tensors with elements among them, and gives tensors or arrays of the
        op's types. checker(line) says whether it takes that line. With prepare=True the function is given the line, once for
        each, and gives the function of the inputs that will run, or None to decline. transform(line, *args) gives, before
        gradients are taken, what shall stand for the line: an op of your own there brings its own backward. With a transform
        and nothing to run, use mine.replaces(op)(transform).
        """
        row = _row_of(f"executor {self.name!r}", op)

        def register(function):
            self._entries[row["name"]] = (row, function, checker, prepare, transform)
            return function
        return register

    def replaces(self, op, *, checker=None):
        """A decorator: function(line, *args) gives, before gradients are taken, what shall stand for a line of the op."""
        def register(function):
            self.implements(op, checker=checker, transform=function)(None)
            return function
        return register

    def _claim(self, fields):
        line = Node(*fields)
        entry = self._entries.get(line.op)
        if entry:
            return entry[2] is None or entry[2](line)
        kernel = self._kernels.get(line.op)
        if kernel:
            return kernel.checker is None or kernel.checker(line)
        return self._own_claim is not None and self._own_claim(line)

    def _claim_region(self, lines):
        given = self._regions([Node(*line) for line in lines]) or []
        positions = list(given) if hasattr(given, "__iter__") else [None]
        if not all(hasattr(position, "__index__") and 0 <= position < len(lines) for position in positions):
            raise ValueError(f"executor '{self.name}': its claim_region gives {given!r}; it must be positions from 0 to {len(lines) - 1}, as a list")
        return positions

    def _prepare(self, fields):
        line = Node(*fields)
        row, function, _, prepares, _ = self._entries.get(line.op) or (None, self._own_prepare, None, True, None)
        if function is None:
            return None
        if prepares:
            kernel = function(line)
            if kernel is not None and not callable(kernel):
                raise TypeError(f"executor '{self.name}': its prepare gives {kernel!r} for {line.op}, not a function")
            return kernel and (line.op, lambda inputs: _results(line.op, kernel(*inputs)))
        kinds = [p["kind"] for p in row["parameters"]]
        others = [line.args.get(p["name"]) for p in row["parameters"]]
        return line.op, lambda inputs: _results(line.op, function(*_arguments(kinds, inputs, others)))

    def _transform(self, fields, args):
        entry = self._entries.get(fields[0])
        return entry and entry[4] and entry[4](Node(*fields), *args)


def executor(name, *, claim=None, claim_region=None, prepare=None, kernels=None, register=False):
    """An executor of Python functions, for the option `executors` of compile(), where it is asked before those with names:

        mine = th.executor("mine")

        @mine.implements("gelu")
        def gelu(x, approximate):
            return x * th.sigmoid(1.702 * x)

        f = th.compile(lambda x: th.gelu(x), executors=[mine])

    A fusion executor has claim(line), which says whether it could take a line; claim_region(lines), which gives the positions
    of those that form one region with the first; and prepare(line), where a region has line.lines, which gives the function of
    the inputs that runs it, or None to decline. kernels={op: th.cuda.Kernel} run ops
    of that name, the library's too, on CUDA devices. register=True lets options name it from now on, and it stays for ever.
    """
    made = Executor(name, claim, claim_region, prepare, kernels)
    if register:
        made._register()
    return made


# ---- passes ----

class Line(Node):
    """A line of the trace that a pass changes. The edits are made when the pass returns; a wrong one raises at once."""

    def __init__(self, editor, index, fields):
        super().__init__(*fields)
        self._editor, self._index = editor, index

    def arguments(self):
        """Its arguments, to compute with in insertions before later lines."""
        return self._editor.arguments(self._index)

    def replace(self, function):
        """What function(*arguments) gives stands for the line's results."""
        self._editor.replace(self._index, self.insert_before(function))

    def insert_before(self, function):
        """Computes function(*arguments) before the line; its result."""
        return self._editor.before(self._index, function, self.arguments())

    def insert_after(self, function):
        """Computes function(*results) behind the line; its result."""
        return self._editor.before(self._index + 1, function, self._editor.results(self._index))

    def delete(self):
        """The line goes; nothing may need its results."""
        self._editor.delete(self._index)


class Pass(_thunder.Pass):
    """A step of compiling, for the option `passes` of compile(): rules, then a function of the list of a trace's lines.

        double = th.Pass("double_relu", lambda trace: [line.replace(lambda x: th.relu(x) * 2) for line in trace if line.op == "relu"])
        f = th.compile(th.relu, passes=[double])

    It stands before or after another pass, by name; else after "grad".
    """

    def __new__(cls, name, run=None, *, rules=(), before=None, after=None):
        def edit(editor):
            run([Line(editor, i, editor.line(i)) for i in range(editor.count())])

        made = super().__new__(cls, name, edit if run else None, [rules] if isinstance(rules, str) else list(rules), before, after)
        made.name = name
        return made

    def __repr__(self):
        return f"<pass {self.name}>"


def add_pass(name, run=None, *, rules=(), before=None, after=None):
    """Adds a pass to every compile from now on. Also a decorator, of a function of the list of a trace's lines:

        @th.add_pass("double_relu", before="grad")
        def double_relu(trace):
            for line in trace:
                if line.op == "relu":
                    line.replace(lambda x: th.relu(x) * 2)

    The name is what compile(disable_passes=...) takes. th.Pass is for one compile only.
    """
    def register(function):
        Pass(name, function, rules=rules, before=before, after=after)._register()
        return function
    return register(run) if run or rules else register


def add_rules(name, rules, *, before=None, after=None):
    """Adds a pass of rewrite rules to every compile from now on.

        th.add_rules("faster", ["div(a, sqrt(b)) -> mul(a, rsqrt(b)) if b.dtype == f32"], after="grad")

    The name is what compile(disable_passes=...) takes.
    """
    add_pass(name, rules=rules, before=before, after=after)


def passes():
    """The passes of a compile, in order: {name, doc, required}, and those that were added."""
    return _schema.describe("passes")
