"""thunder.compile(module) of a torch module: the module's twin, whose calls are compiled."""
import torch

from .. import _twice
from . import _private
from ._backend import options_of


def _call(self, *args, **named):
    return self._thunder_call(*args, **named)


def _copied(self):
    raise TypeError(f"{type(self).__name__}: copy and save the module itself, and compile the copy")


def compile(module, **options):
    """A module of the same class over the same state: parameters, buffers, submodules, hooks, the mode of training and whatever
    else is set on one is set on the other. Only its calls are other ones: torch.compile's, by backend="thunder". Of a twin: of what it
    is the twin of."""
    module = module._thunder_call._orig_mod if "_thunder_call" in vars(type(module)) else module
    fullgraph = options.pop("fullgraph", False)
    dynamic = options.pop("dynamic", None)
    options_of(None, options)
    members = {"__slots__": ("_thunder_call",), "__call__": _call, "__reduce__": _copied, "__deepcopy__": lambda self, memo: _copied(self),
               "__module__": type(module).__module__, "compile": _twice.refuse, **_twice.MARK}
    twin = object.__new__(type(type(module).__name__, (type(module),), members))
    object.__setattr__(twin, "__dict__", module.__dict__)
    type(twin)._thunder_call.__set__(twin, torch.compile(module, backend=_private.BACKEND, fullgraph=fullgraph, dynamic=dynamic,
                                                         options=options or None))
    return twin
