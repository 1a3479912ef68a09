"""PyTorch's own tests of compilers with this backend in the place of theirs, as rows of the long tier. Debian's source package of PyTorch has
the tests, which the first run fetches into the user's cache folder: nothing of them is kept here. What fails counts if it passes by aot_eager
in the same process; what asks no backend counts not at all."""
import collections
import contextlib
import functools
import importlib
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import unittest
from unittest import mock

import torch
from torch._dynamo import testing as dynamo_testing
from torch._dynamo.backends import debugging, registry
from torch._inductor import codecache
from torch._inductor import compile_fx as inductor

import thunder.torch
from thunder.torch import _backend

_VERSION = "2.6.0+dfsg"  # Debian trixie's
_SOURCES = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n"
_FOLDERS = ("inductor", "dynamo", "functorch")

# What the tests ask for by name, and whatever stands in for it.
_NAMES = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")

Part = collections.namedtuple("Part", "file classes dynamic")
PARTS = {
    "cpu": Part("inductor/test_torchinductor", ("CpuTests",), False),
    "cpu-dynamic": Part("inductor/test_torchinductor", ("CpuTests",), True),
    "dynamic_shapes": Part("inductor/test_torchinductor_dynamic_shapes", ("DynamicShapesCpuTests", "TestInductorDynamicCPU"), False),
    # Classes of samples of ops and modules, and of export, ask no compiler.
    "aotdispatch": Part("functorch/test_aotdispatch", ("TestPythonKeyCPU", "TestAOTAutograd", "TestAOTAutogradWithDynamo", "TestPartitioning",
                                                       "TestAOTDispatch", "TestAOTModuleSimplified"), False),
    **{name: Part(f"dynamo/test_{name}", None, False) for name in
       ("repros", "misc", "modules", "functions", "hooks", "aot_autograd", "subclasses")},
}


# ---- the tests ----

def _fetched():
    """The folder of PyTorch's tests, in the user's cache folder; apt-get checks their signature."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "libthunder" / f"pytorch-tests-{_VERSION}"
    if not (cache / "complete").exists():
        for part in ("state/lists/partial", "archives/partial"):
            (cache / part).mkdir(parents=True, exist_ok=True)
        (cache / "sources.list").write_text(_SOURCES, encoding="utf-8")
        apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={cache}/sources.list", "-o", "Dir::Etc::sourceparts=-",
               "-o", f"Dir::State={cache}/state", "-o", f"Dir::Cache={cache}"]
        subprocess.run([*apt, "update"], check=True, cwd=cache)
        subprocess.run([*apt, "source", "--download-only", f"pytorch={_VERSION}-7"], check=True, cwd=cache)
        with tarfile.open(cache / f"pytorch_{_VERSION}.orig.tar.xz") as archive:
            wanted = [one for one in archive if one.name.split("/")[1:2] == ["test"] and one.name.split("/")[2:3] in [[name] for name in _FOLDERS]]
            archive.extractall(cache, wanted)
        (next(cache.glob("*/test"))).rename(cache / "test")
        (cache / "complete").touch()
    return cache / "test"


def _unchanged(function):
    return function


# Names that these tests import and that newer versions of torch no longer have: decorators that change nothing here.
_GONE = {
    "torch.testing._internal.common_utils": {"disable_translation_validation_if_dynamic_shapes": _unchanged},
    "torch._dynamo.testing": {"requiresPy310": _unchanged},
    "torch.testing._internal.inductor_utils": {"HAS_CUDA": False},
}


def _loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@functools.cache
def _module(file):
    top = _fetched()
    for path in (top, *(top / name for name in _FOLDERS)):
        if str(path) not in sys.path:
            sys.path.append(str(path))
    with mock.patch.object(codecache.CppCodeCache, "load"):  # by which these files find out whether Inductor can compile for this processor
        for name, gone in _GONE.items():
            for member, value in gone.items():
                if not hasattr(importlib.import_module(name), member):
                    setattr(sys.modules[name], member, value)
        made = _loaded(top / f"{file}.py")
    for kind in vars(made).values():
        hook = getattr(kind, "guard_manager_clone_hook_fn", None)
        if hook is not None:  # newer versions of torch tell it more
            kind.guard_manager_clone_hook_fn = lambda self, manager, values, *more, hook=hook: hook(self, manager, values)
    return made


def _cases(suite):
    for one in suite:
        yield from _cases(one) if isinstance(one, unittest.TestSuite) else (one,)


@functools.cache
def _inside():
    """{part and test: why} of tests that look into what another compiler makes."""
    text = pathlib.Path(__file__).with_name("torch_tests_left_out.txt").read_text(encoding="utf-8")
    return dict(line.split(": ", 1) for line in text.splitlines() if line and not line.startswith("#"))


# ---- the compiler in their place ----

class Asked:
    """A backend that counts how often it was asked."""

    def __init__(self, backend):
        self.backend, self.times = backend, 0

    def __call__(self, graph, inputs, **_):
        self.times += 1
        return self.backend(graph, inputs)


def _ours(graph, inputs):
    """With eager's random numbers, with which results are compared."""
    return thunder.torch.backend(graph, inputs, options={"fallback_random": True})


def _counting(kind, asked):
    """The __call__ of a class of PyTorch's that counts graphs and runs them as they are."""
    counted = kind.__call__

    def call(self, graph, inputs):
        counted(self, graph, inputs)
        return asked(graph, inputs)
    return call


def _compiled_graph(module, fakes):
    """A graph of AOTAutograd's by the library, as a compiler that is given to aot_function."""
    options, by_torch, _ = _backend.options_of(None, {"fallback_random": True})
    return _backend._program(module, fakes, options, by_torch, [], None)


def _kept_graph(kept):
    """test_aotdispatch's extract_graph(), whose graph the library runs."""
    def extract_graph(module, fakes, graph_cell):
        kept(module, fakes, graph_cell)
        program = _compiled_graph(module, fakes)
        return lambda *arguments: program(list(arguments))
    return extract_graph


@contextlib.contextmanager
def _in_place(module, asked, ours):
    """`asked` wherever the tests name a backend; `ours`: and the library where they give AOTAutograd a compiler."""
    with contextlib.ExitStack() as stack:
        torch._dynamo.list_backends()  # registers them
        stack.enter_context(mock.patch.dict(registry._COMPILER_FNS, dict.fromkeys(_NAMES, asked)))
        for kind in (dynamo_testing.CompileCounter, dynamo_testing.EagerAndRecordGraphs):
            stack.enter_context(mock.patch.object(kind, "__call__", _counting(kind, asked)))
        for holder in (inductor, module):
            if hasattr(holder, "compile_fx"):
                stack.enter_context(mock.patch.object(holder, "compile_fx", asked))
        if hasattr(module, "extract_graph"):
            compilers = {"nop": _compiled_graph, "extract_graph": _kept_graph(module.extract_graph)} if ours else {}
            for name in ("nop", "extract_graph"):
                stack.enter_context(mock.patch.object(module, name, _noted(compilers.get(name, getattr(module, name)), asked)))
        yield


def _noted(compiler, asked):
    def call(*arguments, **named):
        asked.times += 1
        return compiler(*arguments, **named)
    return call


# ---- rows ----

def _reason(problem):
    """The last line of a traceback that says something, and where in the library it comes from."""
    lines = [line for line in problem.strip().splitlines() if line.strip() and not line.startswith(("To execute this test", "This message can be"))]
    said = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Unsupported|Failed|Warning)\b", line)), lines[-1])
    return " ".join(said.split())


def _outcome(module, case, dynamic, ours):
    """(whether a test passes, why not, how often the backend was asked)"""
    asked = Asked(_ours if ours else debugging.aot_eager)
    result = unittest.TestResult()
    torch._dynamo.reset()
    with _in_place(module, asked, ours), torch._dynamo.config.patch(assume_static_by_default=not dynamic), \
            contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            unittest.TestSuite([case]).run(result)
        except BaseException:  # noqa: BLE001 - what unittest lets through
            result.addError(case, sys.exc_info())
    problems = [text for _, text in [*result.errors, *result.failures]] + [f"skipped: {why}" for _, why in result.skipped] + \
        [text for _, text in result.expectedFailures]
    return not problems and result.testsRun == 1, _reason(problems[0]) if problems else "", asked.times


def rows(part, counted):
    """(name, row) of the tests of a part; all parts for ""."""
    for name in [part] if part else PARTS:
        file, classes, dynamic = PARTS[name]
        module = _module(file)
        for case in _cases(unittest.defaultTestLoader.loadTestsFromModule(module)):
            kind = type(case).__name__
            if classes is None or kind in classes:
                yield f"{name} {kind}.{case._testMethodName}", functools.partial(_row, name, module, case, dynamic, counted)


def _row(part, module, case, dynamic, counted):
    name = f"{part} {case._testMethodName}"
    if name in _inside():
        return counted("left out", _inside()[name])
    passes, why, asked = _outcome(module, case, dynamic, True)
    if passes or why.startswith("skipped"):
        return counted("passes" if asked else "asks no backend", why)
    by_torch, theirs, asked = _outcome(module, type(case)(case._testMethodName), dynamic, False)
    return counted("fails", why) if by_torch and asked else counted("not by aot_eager", theirs)
