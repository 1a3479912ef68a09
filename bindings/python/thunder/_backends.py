"""What compile() may be asked for beside the library's own options: PyTorch's names, modes, and backends by name or function."""
import functools
import importlib.util
import os
import pathlib
import sys

from . import _extend, _names, _schema, _show, _thunder

_inductor = {row["name"]: row["state"] for row in _schema.describe("inductor_options")}
_own = {row["name"] for row in _schema.describe("options")} | {"passes"}


@functools.cache
def _find_engines():
    """Names the files of engines that Python can import, for the library, which knows no Python."""
    if "THUNDER_TVM_PYTHON" not in os.environ and all(importlib.util.find_spec(name) for name in ("tvm", "tvm_ffi", "onnx")):
        os.environ["THUNDER_TVM_PYTHON"] = sys.executable
    for variable, package, files in [("THUNDER_ONNXRUNTIME", "onnxruntime", "capi/libonnxruntime.so.*"),
                                     ("THUNDER_PJRT_PLUGIN", "xla_plugins", "xla_cpu_pjrt/xla_cpu_pjrt.so")]:
        if variable in os.environ or not (spec := importlib.util.find_spec(package)):
            continue
        for folder in spec.submodule_search_locations or ():
            for found in sorted(pathlib.Path(folder).glob(files)):
                os.environ[variable] = str(found)


_LIGHTNING = {"executors_list": "executors", "transforms": "passes"}  # its names
_BY_PYTORCH = ("torch", "inductor", "torchcompile")  # executors that thunder.torch has


def executors_of(given):
    """The option executors, with the objects that these names stand for. Without PyTorch `host` runs what `torch` was to run."""
    named = given.split(",") if isinstance(given, str) else list(given) if isinstance(given, (list, tuple)) else [given]
    if not any(one in _BY_PYTORCH for one in named if isinstance(one, str)):
        return given
    if importlib.util.find_spec("torch") is None:
        lacking = next((one for one in named if one in _BY_PYTORCH[1:]), None)
        if lacking:
            raise ValueError(f"compile: executor {lacking!r} is Inductor's, and PyTorch is not installed")
        return [one for one in named if one != "torch"] or ["host"]
    from .torch import _own as bridge
    return [bridge.by_name(one) if isinstance(one, str) and one in _BY_PYTORCH else one for one in named]


def _rows():
    _find_engines()
    return _schema.describe("backends")


def given(named):
    """The options of a call of compile(), with those of its dict `options` among them and a function as `backend` made an executor."""
    named = dict(named)
    inside = named.pop("options", None)
    if inside is not None:
        if not hasattr(inside, "items"):
            raise TypeError(f"compile: options must be a dict of names and values, got {type(inside).__name__}")
        if inside and named.get("mode") is not None:
            raise RuntimeError("compile: either mode or options can be given, not both: name the options that the mode stands for "
                               f"(list_mode_options({named['mode']!r}))")
        for name, value in inside.items():
            name = str(name).replace("-", "_")
            if name in named and named[name] != value:
                raise TypeError(f"compile: option {name!r} is {named[name]!r} by keyword and {value!r} among `options`")
            named[name] = value
    for theirs, ours in _LIGHTNING.items():
        value = named.pop(theirs, None)
        if value is not None:
            named.setdefault(ours, value)
    unknown = next((name for name in named if name not in _own and name not in _inductor), None)
    if unknown is not None:
        raise TypeError(f"compile: unknown option {unknown!r}{_names.suggest(unknown, _own | set(_inductor))}")
    if named.get("backend") is not None or named.get("executors"):
        _find_engines()
    if named.get("backend") == "inductor" and importlib.util.find_spec("torch") is not None:
        from .torch import _own as _  # noqa: F401  its row
    if callable(named.get("backend")):
        function = named.pop("backend")
        own, executors = _executor(_name_of(function), function), named.get("executors") or []
        named["executors"] = [own, *([executors] if isinstance(executors, (str, _thunder.Executor)) else executors)]
    return named


def _name_of(function):
    return getattr(function, "__name__", type(function).__name__)


def _executor(name, function):
    """Takes each trace, gradients taken, as one region, and runs what the function makes of it."""
    def prepare(region):
        made = function(region, list(region.inputs))
        if made is None or not callable(made):
            raise TypeError(f"backend {name!r}: the function must return a function of the region's inputs, got {type(made).__name__}")
        return made
    return _extend.Executor(name, lambda line: True, lambda lines: range(len(lines)), prepare)


def register_backend(name, backend=None, *, executors=(), disable_passes=(), tags=(), fusion=True):
    """A name for compile(backend=...). Also a decorator, of a function that gets what a trace became, gradients taken, and its inputs,
    and gives the function that runs it, as a backend of torch.compile does:

        @th.register_backend("printing")
        def printing(graph, example_inputs):
            print(*(line.op for line in graph.lines))
            return graph.forward

    Or without a function: executors (objects of th.executor(), or names) that are asked before those of the option `executors`, passes
    that are left out, and fusion=False for none of the library's own. `tags` as in PyTorch: list_backends() leaves "debug" and
    "experimental" out.
    """
    def register(function):
        if not callable(function):
            raise TypeError(f"register_backend: a function of (graph, example_inputs) was expected, not {type(function).__name__}")
        _register(name, (function.__doc__ or "").strip().partition("\n")[0], [_executor(name, function)], (), disable_passes, tags, fusion)
        return function

    if not isinstance(name, str):
        raise TypeError(f"register_backend: a name was expected, not {type(name).__name__}")
    if backend is not None:
        register(backend)
        return backend
    if not executors and not disable_passes and fusion:
        return register
    objects = [one for one in executors if isinstance(one, _thunder.Executor)]
    _register(name, "", objects, [one for one in executors if one not in objects], disable_passes, tags, fusion)
    return None


def add(name, doc, executors):
    """A row of the table for executors, which are objects."""
    _register(name, doc, executors, (), (), (), True)


def _register(name, doc, objects, names, disable_passes, tags, fusion):
    for words, what in ((names, "executors"), (disable_passes, "disable_passes"), (tags, "tags")):
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise TypeError(f"register_backend: {what} must be a list of names, got {words!r}")
    _thunder.add_backend(name, doc, list(objects), ",".join(names), ",".join(disable_passes), ",".join(tags), not fusion)


def list_backends(exclude_tags=("debug", "experimental")):
    """The names that compile(backend=...) takes, but for those with one of these tags; None: all."""
    hidden = set(exclude_tags or ())
    return sorted(row["name"] for row in _rows()
                  if not hidden & set(row["tags"].split(",")) and not row["missing_executors"])


def unavailable_backends():
    """{name: the executors that it asks for and that are not here}."""
    return {row["name"]: row["missing_executors"] for row in _rows() if row["missing_executors"]}


def backends():
    """{name, doc, executors, disable_passes, tags ...} of each backend."""
    return _show.Rows(_rows())


def list_mode_options(mode=None, dynamic=None):
    """The options that a mode stands for; without one a dict of all modes. `dynamic` changes none of them."""
    modes = {row["name"]: row["options"] for row in _schema.describe("modes")}
    if mode is None:
        return modes
    if mode not in modes:
        raise ValueError(f"list_mode_options: unknown mode {mode!r}{_names.suggest(str(mode), modes)}")
    return modes[mode]


def list_options():
    """The names that compile(options={...}) takes: the library's, and those of PyTorch's Inductor that are not refused."""
    return sorted(_own | {name for name, state in _inductor.items() if state != "refused"})
