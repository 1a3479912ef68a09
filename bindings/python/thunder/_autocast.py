"""Mixed precision: th.autocast."""
import functools

from . import _thunder


class autocast:
    """Products, convolutions and attention in bfloat16 (or float16), what needs more in float32, weights in their own type.

        with th.autocast("cuda", dtype=th.bfloat16):
            loss = F.cross_entropy(net(x), y)

    Also a decorator. In a compiled function it stands inside of the function: one that was compiled does not see a region around
    its call. Gradients of float32 weights are float32. bfloat16 has float32's range, so nothing is scaled; with float16 scale the
    loss. device_type is PyTorch's, and says nothing here: the same ops are cast on every device; nor does cache_enabled: equal
    casts of one compiled function are one. docs/ops-from-pytorch.md says more.
    """

    def __init__(self, device_type=None, dtype=None, enabled=True, cache_enabled=None):
        if device_type is not None and not isinstance(device_type, str):
            raise TypeError(f"autocast: device_type must be 'cpu' or 'cuda', got {device_type!r}; dtype= takes a dtype")
        if device_type is not None and device_type.partition(":")[0] not in ("cpu", "cuda"):
            raise ValueError(f"autocast: device_type must be 'cpu' or 'cuda', got {device_type!r}")
        self._dtype = (_thunder.bfloat16 if dtype is None else dtype) if enabled else None
        self._before = []

    def __enter__(self):
        self._before.append(_thunder._set_autocast(self._dtype))
        return self

    def __exit__(self, *error):
        _thunder._set_autocast(self._before.pop())

    def __call__(self, function):
        @functools.wraps(function)
        def cast(*args, **named):
            with autocast(dtype=self._dtype, enabled=self._dtype is not None):
                return function(*args, **named)
        return cast


def get_autocast_dtype(device_type=None):
    """The dtype of the region at hand; None outside of one."""
    return _thunder._autocast()


def is_autocast_enabled(device_type=None):
    """Whether a region of autocast is at hand."""
    return get_autocast_dtype() is not None
