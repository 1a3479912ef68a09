"""What the library makes of a function, and whether it is right. The module is its function examine(), too: thunder.examine(f, x)."""
import json
import os
import sys
import types

from . import _functions, _reports
from ._libraries import is_library


def _is_theirs(function, args):
    torch = sys.modules.get("torch")
    return torch and (isinstance(function, torch.nn.Module) or any(isinstance(a, torch.Tensor) for a in args))


def _of_pytorch(function, *args, **kwargs):
    """Text: how many ops the function has for these arguments, and which of them would run by PyTorch, and why. The function runs."""
    import torch

    from . import torch as bridge
    compiled = torch.compile(function, backend="thunder")
    compiled(*args, **kwargs)
    graphs = [program.__wrapped__.__self__ for program in bridge.programs(compiled)]
    every = {str(node.target) for graph in graphs for node, _ in graph.nodes if node.op == "call_function"}
    theirs = {str(node.target) for graph in graphs for node in graph.lines}
    said = f"{len(every)} ops, of which {len(every - theirs)} run by the library and {len(theirs)} by PyTorch"
    return "\n".join([said, bridge.explain(compiled)])


class Examination:
    """What examine() found; printed, a text.

    `findings` are dicts of kind ("unsupported", "wrong", "nan", "gradient", "slow" or "fusion"), op, where and text, the gravest first;
    `ops` those that the function has, with who runs them; `sound` whether nothing is unsupported, wrong or NaN."""

    def __init__(self, text, fields):
        self._text = text
        self.__dict__.update(fields)

    def __repr__(self):
        return self._text


def _where(error):
    """The user's line that raised it: the innermost that is none of the package's or of Python's own."""
    where, trace = "", error.__traceback__
    while trace:
        code = trace.tb_frame.f_code
        if not is_library(code.co_filename):
            where = f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _failed(compiled, error):
    finding = {"kind": "unsupported", "op": "", "where": _where(error), "text": f"{type(error).__name__}: {error}"}
    name = compiled.function_name()
    place = f" at {finding['where']}" if finding["where"] else ""
    return Examination(f"{name}: not sound\nunsupported{place}: {finding['text']}\n",
                       {"function": name, "sound": False, "findings": [finding], "ops": [], "checked": 0})


def examine(function, *args, **named):
    """What `function` is for these arguments: its ops and who runs them, what is unsupported, blocks a gradient or a fusion, what a call
    needs; and, after a call that is compared with the reference step by step, what is wrong or NaN, with the user's line. Where its first
    result is a loss, its gradients are compared too. A function or module of PyTorch's: which ops would run by PyTorch, and why."""
    if _is_theirs(function, args):
        return _of_pytorch(function, *args, **named)
    compiled = _reports.ready(function)
    try:
        compiled.prepare(*args, **named)
    except (KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:  # whatever the function raises is what there is to report
        return _failed(compiled, error)
    compiled.examine(*args, **named)
    return Examination(compiled.explain("examination"), json.loads(compiled.explain("examination_json")))


def get_fusions(function):
    """The kernels of several lines in the program compiled last: each the list of its ops."""
    return json.loads(_functions.explain(function, "fusions") or "[]")


class _Callable(types.ModuleType):
    def __call__(self, function, /, *args, **named):
        return examine(function, *args, **named)


sys.modules[__name__].__class__ = _Callable
