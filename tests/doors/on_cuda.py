"""The package for programs whose tensors are on a CUDA device: what makes tensors of nothing but numbers makes them there."""
import functools

import thunder

globals().update({name: getattr(thunder, name) for name in dir(thunder) if not name.startswith("__")})

_MAKE = ("arange", "as_tensor", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm", "tensor", "zeros")


def _there(make):
    @functools.wraps(make)
    def made(*given, **named):
        return make(*given, device="cuda", **named)
    return made


globals().update({name: _there(getattr(thunder, name)) for name in _MAKE})


def from_numpy(array):
    return thunder.from_numpy(array).cuda()
