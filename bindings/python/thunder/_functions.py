"""Functions of tensors: compiled, differentiated, and what is known about them."""
import functools
import inspect
import json
import sys
import typing

from . import _backends, _compile_progress, _names, _schema, _show, _thunder, _traceback, _tree, _twice
from ._ops import functions as _op
from ._show import Trace
from ._create import asarray, is_array
from ._grad_mode import detached
from ._backward import grad_of
from ._thunder import Compiled, Tensor, tape


class Guard(typing.NamedTuple):
    """What guard_filter_fn is asked about: the path of an argument, "CONSTANT_MATCH" or "FLOAT_MATCH", and its value."""
    name: str
    guard_type: str
    value: object


def _option(name, value):
    """As the extension takes it: functions are ones that are not compiled."""
    if name == "donate_argnums" and value is not None:
        return ",".join(str(number) for number in ([value] if isinstance(value, int) else value))
    if name == "debug_options" and isinstance(value, dict):
        return ",".join(debug for debug, wanted in value.items() if wanted)
    if name not in ("progress", "guard_filter_fn") or value is None:
        return tuple(value) if isinstance(value, list) else value
    if not callable(value):
        raise TypeError(f"compile: option {name!r} must be a function, got {type(value).__name__}")

    def progress(*at):
        value(*at)

    def guard_filter_fn(guards):
        return [bool(keep) for keep in value([Guard(**guard) for guard in guards])]
    return Compiled(progress if name == "progress" else guard_filter_fn, name, {"disable": True})


def skip_guard_on_inbuilt_nn_modules_unsafe(guards):
    """For guard_filter_fn: keeps all. Guards of modules are one comparison a call for all of them, and are not among those that it sees."""
    return [True] * len(guards)


def skip_guard_on_all_nn_modules_unsafe(guards):
    """For guard_filter_fn: the same."""
    return [True] * len(guards)


def keep_tensor_guards_unsafe(guards):
    """For guard_filter_fn: drops those of numbers, so that another one runs the program that was made for the first. Those of tensors always
    stay."""
    return [False] * len(guards)


_precision = "highest"  # of functions that are compiled from now on


def set_float32_matmul_precision(precision):
    """"highest", "high" or "medium": compile()'s option float32_matmul_precision of functions that are compiled from now on. On the CPU, and
    op by op, products are as exact as they can be in any case."""
    global _precision
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"set_float32_matmul_precision: must be 'highest', 'high' or 'medium', got {precision!r}")
    _precision = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision() set."""
    return _precision


def compile(function=None, /, *, model=None, **options):
    """The function with its programs in a cache: traced and compiled at the first call with arguments of new shapes,
    dtypes or constants, run at all others. Also a decorator, with options or without:

        @thunder.compile
        def step(x, y): ...

        @thunder.compile(executors=["host"])
        def step(x, y): ...

    Arguments and results are tensors, numpy arrays, numbers, strings, None, modules, and lists, tuples, dicts, named
    tuples and dataclasses of them. Floats stay live and are tensors inside; integers, booleans and strings are
    constants that a call checks. Results lie in memory of their own, also where the function returns an argument, a view
    of one, or a tensor that it captured. compile_options() lists the options; `executors` and `passes` also take objects
    that executor() and Pass() make, for this function alone. `backend` is a name of list_backends(), or a function as
    register_backend() takes it; options={...} takes PyTorch's names too, and excludes `mode`. Of a module of torch: its twin, by
    torch.compile(backend="thunder").
    """
    if model is not None:
        if function is not None:
            raise TypeError("compile: the function is given twice, as the first argument and as `model`")
        function = model
    options = _backends.given(options)
    if function is None:
        return functools.partial(compile, **options)
    if not callable(function):
        raise TypeError(f"compile: a function was expected, not {type(function).__name__}")
    _twice.check(function)
    if "torch" in sys.modules and isinstance(function, sys.modules["torch"].nn.Module):
        from . import torch as bridge
        return bridge.compile(function, **options)
    if options.get("executors"):
        options["executors"] = _backends.executors_of(options["executors"])
    name = getattr(function, "__qualname__", type(function).__qualname__)
    given, options = options, {name: _option(name, value) for name, value in options.items()}
    if "progress" not in options and (shown := _compile_progress.option()):
        options["progress"] = _option("progress", shown)
    if _precision != "highest":
        options.setdefault("float32_matmul_precision", _precision)
    made = functools.update_wrapper(Compiled(function, name, options, _takes_any_names(function)), function, updated=())
    vars(made)["_given"] = given
    return made


def _takes_any_names(function):
    """Whether it sees all names as a dict, and so their order."""
    function = getattr(function, "forward", function) if isinstance(function, _thunder.ModuleBase) else function
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return bool(code and code.co_flags & inspect.CO_VARKEYWORDS)


def _attribute(compiled, name):
    """Of a compiled module those of the module: model = thunder.compile(model), then model.parameters()."""
    function = vars(compiled).get("__wrapped__")
    if name.startswith("__") or not isinstance(function, _thunder.ModuleBase):
        raise AttributeError(f"'Compiled' object has no attribute {name!r}{_names.suggest(name, [n for n in dir(Compiled) if n[0] != '_'])}")
    return getattr(function, name)


def _reduce(compiled):
    """By its name, where that is its own, else what it was made of."""
    own = vars(compiled)
    if "_given" not in own:
        raise TypeError("a compiled function without a function of Python is saved by save_program(), or export_onnx()")
    found = sys.modules.get(own.get("__module__"))
    for name in own.get("__qualname__", "").split("."):
        found = getattr(found, name, None)
    return own["__qualname__"] if found is compiled else (_compiled_again, (own["__wrapped__"], own["_given"]))


def _compiled_again(function, options):
    return compile(function, **options)


def _item(compiled, key):
    return compiled.__wrapped__[key]


def _iterator(compiled):
    return iter(compiled.__wrapped__)


def module_of(value):
    """Of a compiled module, which becomes a part of another one, the module: its calls are compiled from now on. Anything else as it is."""
    module = vars(value).get("__wrapped__") if isinstance(value, Compiled) else None
    if not isinstance(module, _thunder.ModuleBase):
        return value
    module.compile(**vars(value)["_given"])
    return module


Compiled.__reduce__, Compiled.__getitem__, Compiled.__iter__ = _reduce, _traceback.covered(_item), _traceback.covered(_iterator)
Compiled.__repr__, Compiled.__getattr__ = _show.compiled_text, _traceback.covered(_attribute)
for _name, _member in _twice.MARK.items():
    setattr(Compiled, _name, _member)


def _differentiable(value):
    """Arrays and plain floats as tensors, so that there is something to differentiate by; and each tensor as a view of its
    own, since one that is given twice, or captured as well, has a gradient for each place."""
    if isinstance(value, Tensor):
        return _op["permute"](value, list(range(value.ndim)))
    if is_array(value) or (isinstance(value, float) and not _thunder.is_tracing()):
        return asarray(value)
    return value


def _real_tensors(tree):
    return isinstance(tree, Tensor) and tree.dtype.is_floating_point


def _wanted(function, args, argnums):
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    wanted = []
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise TypeError(f"{function.__name__}: argnums {number} asks for an argument that was not given: "
                            f"there are {len(args)} positional ones")
        if not all(_real_tensors(leaf) for leaf in _tree.tree_leaves(args[number]) if leaf is not None):
            raise TypeError(f"argument {number} holds something else than tensors of floats, by which alone can be "
                            "differentiated; name others in argnums, or captured ones in wrt")
        wanted.append(args[number])
    return wanted if isinstance(argnums, tuple) else wanted[0]


def value_and_grad(function, argnums=0, has_aux=False, *, wrt=None):
    """A function that returns (value, gradients) of `function`, whose result is a tensor with one element.

    The gradients are those of the positional arguments `argnums` (a number, or a tuple of them), in their structure;
    or of the captured tensors `wrt`, such as net.parameters(), in theirs. With has_aux the function returns
    (value, anything), and so does the new one: ((value, anything), gradients).
    """
    @functools.wraps(function)
    def both(*args, **named):
        arguments = {}  # by the view that stands for one

        def differentiable(value):
            made = _differentiable(value)
            if isinstance(value, Tensor):
                arguments[id(made)] = value
            return made
        with tape():
            args = [_tree.tree_map(differentiable, argument) for argument in args]
            result = function(*args, **named)
            loss = result[0] if has_aux else result
            if not isinstance(loss, Tensor):
                raise TypeError(f"value_and_grad: the function must return its loss, a tensor, not {type(loss).__name__}")
            if loss.ndim and _numel_is_one(loss):
                loss = loss.reshape(())
            gradients = grad_of(loss, _wanted(function, args, argnums) if wrt is None else wrt)
            if isinstance(gradients, list) and isinstance(argnums, tuple) and wrt is None:
                gradients = tuple(gradients)
        result = _tree.tree_map(lambda leaf: arguments.get(id(leaf), leaf), result)  # an argument comes back as itself
        return detached((result, gradients)) if _thunder._grad_detaches() else (result, gradients)
    return _traceback.covered(both)


def _numel_is_one(tensor):
    return all(size == 1 for size in tensor.shape)


def grad(function, argnums=0, has_aux=False, *, wrt=None):
    """The gradients that value_and_grad() gives, alone; with has_aux (gradients, anything)."""
    both = value_and_grad(function, argnums, has_aux, wrt=wrt)

    @functools.wraps(function)
    def gradients_of(*args, **named):
        value, gradients = both(*args, **named)
        return (gradients, value[1]) if has_aux else gradients
    return _traceback.covered(gradients_of)


def trace(function):
    """A function that runs nothing: it gives what `function` is recorded as for its arguments, a Trace. It prints as a
    program; last_traces() of a compiled function has what became of it. Of a tensor: the sum of its diagonal, as in PyTorch."""
    if isinstance(function, _thunder.Tensor):
        return function.trace()
    recorded = compile(function)

    @functools.wraps(function)
    def traced(*args, **named):
        recorded.prepare(*args, **named)
        return last_traces(recorded)[0]
    return _traceback.covered(traced)


def function_from_trace(trace, captured=(), **options):
    """A compiled function of a Trace, or of its text: of one argument for each i[k], which returns the results one after the
    other. `captured`: a tensor for each p[k] and c[k], in the order of the text, but for the random state; without them a Trace has
    those of the function that was compiled."""
    kept = None if len(captured) else getattr(trace, "_kept", None)
    return _thunder.function_from_trace(kept or str(trace), tuple(captured), options)


def save_program(function, path):
    """Writes the programs that a compiled function keeps into a file, which needs neither the function nor Python to run."""
    _thunder.save_program(function, path)


def compile_ahead(function, path):
    """What save_program() writes, with the machine code of its kernels for the CPU: it runs without LLVM on a machine of the same
    kind, see load_program()."""
    _thunder.compile_ahead(function, path)


def load_program(path, run_saved_kernels=False, outputs=None, **options):
    """The compiled function that save_program() wrote, or that an ONNX model is, from its path or its bytes. It takes what the function took when it was called before saving;
    options that are given come before those in the file. No code of the file's runs, unless run_saved_kernels is true: then the
    machine code that compile_ahead() wrote runs in place of compiling, so that the file must be one that you trust as you trust
    a program. Where it is for another machine a warning says so, and kernels are compiled; without LLVM that is an Error.

    An ONNX model is a function of its inputs, in their order or by name; the option outputs="a,b" names the values that it gives in place of
    its outputs. program_module() are its weights, signature() says what it takes: docs/onnx.md."""
    load = _thunder.load_program_bytes if isinstance(path, (bytes, bytearray, memoryview)) else _thunder.load_program
    about_file = {"run_saved_kernels": True} if run_saved_kernels else {}
    return load(path, {**options, **about_file, **({"outputs": outputs} if outputs else {})})


def program_module(function):
    """The weights of a program that an ONNX model is, under their names there: to be trained, saved, or moved to a device. Calls follow
    what changes."""
    from . import _module
    module = _compiled(function, "program_module").program_module(_module.Module)
    module._take_children()
    return module


def signature(function):
    """{"inputs": [{"name", "dtype", "dims"}], "outputs": ...}: what a compiled function takes and gives, where a dim is a size or the name
    of one that varies. Of an ONNX model also its "operators", and what of them is "unsupported". None before it has been compiled."""
    text = _compiled(function, "signature").signature()
    return json.loads(text) if text else None


def export_c(path, folder, **options):
    """The program of a file that save_program() wrote as C, with one function that needs no libthunder. Options: name (the file's),
    cpu ("x86-64-v3"; "native": this one), program (1)."""
    _thunder.export_c(path, folder, options)


def export_onnx(function, path, **options):
    """The program that a compiled function keeps, or load_program() gave, as an ONNX model. Options: opset (18), external_data (false:
    weights lie in the model, up to 1 GiB), program (1)."""
    _thunder.export_onnx(function, path, options)


class CacheInfo(typing.NamedTuple):
    """How many kernels, and choices of max_autotune, save_cache_artifacts() wrote, or load_cache_artifacts() took."""
    cpu_kernels: int
    cuda_kernels: int
    product_choices: int


def save_cache_artifacts():
    """All kernels that the process has compiled or found on disk since it began, and what max_autotune measured: bytes,
    and a CacheInfo. They are of use to this very build of the library on a machine of the same kind."""
    artifacts, counts = _thunder.save_cache_artifacts()
    return artifacts, CacheInfo(*counts)


def load_cache_artifacts(serialized_artifacts):
    """The kernels that save_cache_artifacts() wrote are not compiled again; gives a CacheInfo. An Error says what differs where
    they are for another machine or another build. They are machine code: the bytes must come from where code may come from."""
    return CacheInfo(*_thunder.load_cache_artifacts(serialized_artifacts))


def _compiled(function, who, backward=False):
    """Of what torch.compile returned: its program."""
    if not isinstance(function, Compiled) and "torch" in sys.modules and callable(function):
        from . import torch as bridge
        return bridge.reported(getattr(function, "_thunder_call", function), who, backward)
    if not isinstance(function, Compiled):
        raise TypeError(f"{who}: a compiled function was expected, not {type(function).__name__}")
    return function


def last_traces(function):
    """The stages of the program that `function` compiled last, from "as written" to "claimed"."""
    return _show.Traces(Trace(*row) for row in _compiled(function, "last_traces").traces())


def last_backward_traces(function):
    """The stages of the backward that ran last of `function`, where it was called on a tape and a gradient was asked for. Then the
    forward, which gives the results and what the backward reads, is the program compiled last."""
    compiled = _compiled(function, "last_backward_traces", True)
    return _show.Traces(Trace(*row) for row in (compiled.backward_traces() if compiled is function else compiled.traces()))


def last_miss(function):
    """Why the last call that compiled had to: which argument, which field."""
    return _compiled(function, "last_miss").last_miss()


def explain(function, what="fusion"):
    """Text about the program that `function` compiled last, by the name of a report: reports() lists them.

    "fusion": why neighbours in its trace were not fused, a line for each two. "loops", "llvm", "assembly", "cuda": its kernels as loop
    nests, LLVM's IR, assembly and CUDA C++. "guards", "breaks", "memory", "stages", "hints", "graph" (Graphviz) ... The name of a stage:
    what the program was after it. "torch", of what torch.compile returned: which of its lines run by PyTorch, and why, and where and why
    Dynamo broke the graph; "breaks" is the same there.
    """
    if what in ("torch", "breaks") and not isinstance(function, Compiled) and "torch" in sys.modules:
        from . import torch as bridge
        return bridge.explain(getattr(function, "_thunder_call", function))
    return _compiled(function, "explain").explain(what)


def graph_breaks(function):
    """Where and why `function` was no one program: a list of dicts of where ("file:line"), reason, lines and times."""
    compiled = _compiled(function, "graph_breaks")
    if compiled is not function:
        from . import torch as bridge
        return bridge.graph_breaks(getattr(function, "_thunder_call", function))
    return json.loads(compiled.graph_breaks())


def stats(function):
    """Counts of calls and programs, and nanoseconds spent on compiling."""
    return _compiled(function, "stats").stats()


class set_stance:
    """What calls of compiled functions do from now on, or in a `with` block: "default"; "force_eager", run op by op;
    "eager_on_recompile", the same where no program fits; "fail_on_recompile", fail there; "eager_then_compile", the first such
    call of a function runs op by op."""

    def __init__(self, stance):
        self.before = _thunder.set_stance(stance)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        _thunder.set_stance(self.before)


def disable(function=None, /):
    """The function as a compiled one that compiles nothing: each call runs it op by op. Called by a compiled function it is a part
    of that. Also a decorator."""
    return compile(disable=True) if function is None else compile(function, disable=True)


def compile_options():
    """What compile() can be told."""
    return _show.Rows(_schema.describe("options"))


def executors():
    """What runs ops here. Its attributes are the names that lightning-thunder has for some."""
    return [row["name"] for row in _schema.describe("executors")]


def get_all_executors():
    """The names of all executors, lightning-thunder's function of that name."""
    return executors()


def get_executor(name):
    """The row of the executor: {"name", "default", "always"}, its place among those that compile() asks (0: it is none) and whether it
    ends each list; None: there is none of that name."""
    return next((row for row in _schema.describe("executors") if row["name"] == name), None)


def get_default_executors():
    """The names of those that compile() asks where the option `executors` names none, the first before the others."""
    return [row["name"] for row in sorted(_schema.describe("executors"), key=lambda row: row["default"]) if row["default"]]


def get_always_executors():
    """The names of those that end each list of executors: what nobody else takes, they run."""
    return [row["name"] for row in _schema.describe("executors") if row["always"]]


def set_default_executors(executors=None):
    """Which executors compile() asks where the option `executors` names none, from now on: a list of names; None: the built-in ones."""
    if not isinstance(executors, (str, list, tuple, type(None))):
        raise TypeError(f"set_default_executors: a list of names was expected, not {type(executors).__name__}")
    _thunder.set_default_executors(executors if isinstance(executors, str) else ",".join(executors or ()))


executors.NVFUSER, executors.TORCH = "fusion", "torch"


def unavailable_executors():
    """The built-in executors that can run nothing here, and why not: what others, at last `host`, run instead."""
    return {row["name"]: row["why"] for row in _schema.describe("unavailable_executors")}
