"""torch.compile(model, backend="thunder"): PyTorch's models run by this library. `import thunder` alone imports no torch.

    import torch
    import thunder.torch

    model = torch.compile(model, backend="thunder")

thunder.compile(model) of a torch module does the same, and needs no import of this. docs/pytorch.md says what is taken.
"""
from . import _own, _private, aten  # noqa: F401
from ._backend import backend, explain, graph_breaks, programs, reported
from ._decide import Unsupported
from ._modules import compile

_private.register(backend)
_private.tell_threads_apart()

__all__ = ["Unsupported", "backend", "compile", "explain", "graph_breaks", "programs", "reported"]
