"""Doors beside PyTorch: its own eager functions are what is right, and torch.compile(backend="thunder") is what is looked through."""
import contextlib

import torch

import thunder
import thunder.torch  # noqa: F401
import ways
from doors import SAME, UNCHANGED, VARYING, Door, does

tape = contextlib.nullcontext  # PyTorch keeps one at all times


def _compiled(f, backend="thunder", options=(), **named):
    torch._dynamo.reset()
    given = {"options": {"fallback_random": True, **dict(options)}} if backend == "thunder" else {}
    return torch.compile(f, backend=backend, **given, **named)


def compiled(**options):
    return lambda f, module, library: ways.alone(_compiled(f, **options))


def training(**options):
    return lambda f, module, library: ways.taped(_compiled(f, **options), module, tape)


def inference(backend="thunder"):
    return lambda f, module, library: without_gradients(_compiled(f, backend, {"freezing": True}), module, library)


def without_gradients(f, module, library):
    def run(*arguments):
        with torch.no_grad():
            return f(*arguments), None
    return run


def of_a_module(f, module, library):
    """thunder.compile() of a module whose forward the program is."""
    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.state = module["state"]

        def forward(self, *arguments):
            return f(*arguments)
    torch._dynamo.reset()
    return ways.taped(thunder.compile(Whole(), options={"fallback_random": True}), module, tape)


_FAILS = (lambda program: program.fails, "Dynamo has errors of its own")
_WRITES_STATE = (does("writes captured"), "freezing takes parameters and buffers for constants")


def _row(way, calls=SAME, gradients=False, beside="", **named):
    """What PyTorch's own backend aot_eager shows otherwise than eager in the same place is no fault of a backend."""
    return Door(way(**named), calls, gradients, beside=beside, own=False, whole=False, refuses=[_FAILS],
        theirs=way(backend="aot_eager", **named))


DOORS = {
    "op by op": Door(ways.op_by_op, own=False, whole=False),
    "op by op on a tape": Door(lambda f, module, library: ways.taped(f, module, tape), gradients=True, own=False,
    whole=False),
    "op by op without gradients": Door(without_gradients, beside="op by op without gradients", own=False, whole=False),
    "torch.compile": _row(compiled),
    "torch.compile for any size": _row(compiled, VARYING, dynamic=True),
    "torch.compile for sizes that vary": _row(compiled, VARYING),
    "torch.compile, training": _row(training, gradients=True),
    "torch.compile, training for any size": _row(training, VARYING, gradients=True, dynamic=True),
    "torch.compile, frozen": _row(inference, UNCHANGED, beside="op by op without gradients")._replace(refuses=[_FAILS,
    _WRITES_STATE]),
    "thunder.compile of a module": _row(training, gradients=True)._replace(open=of_a_module),
}
