"""torch.finfo and torch.iinfo: what the numbers of a dtype are like."""
from . import _thunder


class _Info:
    def __init__(self, dtype):
        if not isinstance(dtype, _thunder.dtype):
            raise TypeError(f"{type(self).__name__}: a dtype was expected, got {dtype!r}")
        self.dtype = dtype.name
        self.bits, real, *self._rest = _thunder.dtype_info(dtype)
        if real != self._real or dtype is _thunder.bool:
            other = "" if dtype is _thunder.bool else f"; {'finfo' if real else 'iinfo'} is for it"
            raise TypeError(f"{type(self).__name__}: takes {self._takes}, got {dtype.name}{other}")

    def __eq__(self, other):
        return type(self) is type(other) and self.dtype == other.dtype

    def __hash__(self):
        return hash((type(self), self.dtype))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self._shown)}, dtype={self.dtype})"


class finfo(_Info):
    """Of a real dtype, float32 if none is given: bits, min, max, eps, tiny, smallest_normal, smallest_subnormal, resolution."""
    __module__ = "thunder"
    _real, _takes, _shown = True, "a real dtype", ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, dtype=_thunder.float32):
        super().__init__(dtype)
        self.min, self.max, self.eps, self.smallest_normal, self.smallest_subnormal, self.resolution = self._rest
        self.tiny = self.smallest_normal


class iinfo(_Info):
    """Of a dtype of integers: bits, min, max."""
    __module__ = "thunder"
    _real, _takes, _shown = False, "a dtype of integers", ("min", "max")

    def __init__(self, dtype):
        super().__init__(dtype)
        self.min, self.max = self._rest
