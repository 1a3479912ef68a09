"""Which code is a library's, where nothing is the user's to set."""
import functools
import os
import re
import sys

import numpy

_ours, _numpy, _python = (os.path.join(os.path.dirname(path), "") for path in (__file__, numpy.__file__, os.__file__))
_site = re.compile(r".*[\\/](?:site|dist)-packages[\\/](\w+)")
_others = {"torch", "jax", "jaxlib", "tensorflow", "scipy", "pandas", "sklearn", "matplotlib", "IPython", "ipykernel", "pytest"}


@functools.lru_cache(maxsize=4096)
def is_library(filename):
    """Ours, Python's own and that of large packages: nothing there is the user's to set."""
    installed = _site.match(filename)
    return filename.startswith(("<frozen", _ours, _numpy)) or (
        installed[1] in _others if installed else filename.startswith(_python))


def is_library_module(module):
    """One that the user made, or that is run, has neither a file nor a place where it was found."""
    file = getattr(module, "__file__", None)
    return is_library(file) if file else getattr(module, "__spec__", None) is not None


def is_library_class(cls):
    module = sys.modules.get(cls.__module__)
    return cls.__module__ == "builtins" or module is not None and is_library_module(module)


def is_ours(cls):
    """A class of this package, whose objects tell of their changes."""
    return cls.__module__.partition(".")[0] == __name__.partition(".")[0]
