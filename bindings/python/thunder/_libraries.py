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
    return is_library(getattr(module, "__file__", None) or ("" if getattr(module, "__name__", "") == "__main__" else "<frozen"))


def is_library_class(cls):
    return cls.__module__ == "builtins" or is_library_module(sys.modules.get(cls.__module__))
