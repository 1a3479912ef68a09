"""Unknown names: every error about one ends as the library says it."""
import sys
import types

from . import _thunder, _traceback


def suggest(name, names):
    """" (did you mean 'x'?)", that the name is PyTorch's and not here, the names when they are few, or ""."""
    return _thunder.suggest(str(name), sorted(names))


def getattr_of(module):
    """The __getattr__ of a module of the package."""
    def __getattr__(name):
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        public = [known for known in vars(sys.modules[module]) if not known.startswith("_")]
        raise AttributeError(f"module {module!r} has no attribute {name!r}{suggest(name, public)}")
    return _traceback.covered(__getattr__)


def namespace(name, doc, members):
    """A module of that name, which import finds: where PyTorch has what is elsewhere here."""
    made = types.ModuleType(name, doc)
    vars(made).update(members)
    made.__getattr__ = getattr_of(name)
    sys.modules[name] = made
    return made


def _tensor_getattr(tensor, name):
    if hasattr(type(tensor), name):
        return object.__getattribute__(tensor, name)  # a property that refuses: its own error, once more
    if name.startswith("_"):
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")
    public = [known for known in dir(_thunder.Tensor) if not known.startswith("_")]
    raise AttributeError(f"'Tensor' object has no attribute {name!r}{suggest(name, public)}")


_thunder.Tensor.__getattr__ = _traceback.covered(_tensor_getattr)
