"""th.testing: whether tensors are close, with an error that says where they are not."""
import numpy

from . import _create, _names, _ops, _thunder
from ._thunder import Tensor

_op = _ops.functions
# PyTorch's (rtol, atol), by dtype; of all others 0.
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def _fail(msg, text):
    raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def _tolerances(actual, expected, rtol, atol):
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: rtol and atol are given together, or neither")
    if rtol is not None:
        return rtol, atol
    both = [_TOLERANCES.get(tensor.dtype.name, (0.0, 0.0)) for tensor in (actual, expected)]
    return tuple(max(pair) for pair in zip(*both))


def _compare(actual, expected, rtol, atol, equal_nan, check_device, check_dtype, check_stride, msg, at):
    if actual.shape != expected.shape:
        _fail(msg, f"The values for attribute 'shape' do not match: {tuple(actual.shape)} != {tuple(expected.shape)}{at}.")
    for name, wanted in (("device", check_device), ("dtype", check_dtype)):
        if wanted and getattr(actual, name) is not getattr(expected, name):
            _fail(msg, f"The values for attribute '{name}' do not match: {getattr(actual, name)} != {getattr(expected, name)}{at}.")
    if check_stride and actual.stride() != expected.stride():
        _fail(msg, f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}{at}.")
    rtol, atol = _tolerances(actual, expected, rtol, atol)
    a, b = (numpy.asarray(_op["to"](t, _thunder.float32 if t.dtype is _thunder.bfloat16 else None, _thunder.device("cpu"))) for t in (actual, expected))
    wide = a.dtype.kind == "f" or b.dtype.kind == "f"
    if wide:
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
    close = numpy.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan) if wide else a == b
    if numpy.all(close):
        return
    count, total = int(numpy.sum(~close)), close.size
    where = tuple(int(i) for i in numpy.argwhere(~numpy.atleast_1d(close))[0]) if a.ndim else ()
    values = f"{a[where] if a.ndim else a[()]} != {b[where] if b.ndim else b[()]}"
    with numpy.errstate(invalid="ignore", over="ignore"):
        apart = numpy.abs(a.astype(numpy.float64) - b.astype(numpy.float64))
    largest = float(numpy.max(apart, where=~numpy.isnan(apart), initial=0))
    kind = "equal" if rtol == atol == 0 else "close"
    _fail(msg, f"Tensor-likes are not {kind}{at}!\n\nMismatched elements: {count} / {total} ({100 * count / total:.1f}%)\n"
               f"First mismatch at index {where}: {values}\nGreatest absolute difference: {largest} (up to {atol} allowed; of the "
               f"expected value {rtol} more)")


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True,
                 check_layout=True, check_stride=False, msg=None, _at=""):
    """An AssertionError unless |actual - expected| <= atol + rtol * |expected| for all elements: of tensors, arrays, numbers, and lists,
    tuples and dicts of them. Without tolerances they are PyTorch's for the dtype, and shapes, dtypes and devices must be equal."""
    options = dict(rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device, check_dtype=check_dtype, check_stride=check_stride, msg=msg)
    if isinstance(actual, dict) and isinstance(expected, dict):
        if actual.keys() != expected.keys():
            _fail(msg, f"The keys of the mappings do not match{_at}: {sorted(map(str, actual.keys() ^ expected.keys()))} are in one alone")
        pairs = [(key, actual[key], expected[key]) for key in actual]
    elif isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            _fail(msg, f"The length of the sequences mismatch{_at}: {len(actual)} != {len(expected)}")
        pairs = [(number, *pair) for number, pair in enumerate(zip(actual, expected))]
    else:
        both = [value if isinstance(value, Tensor) else _create.asarray(value) for value in (actual, expected)]
        numbers = not isinstance(actual, Tensor) and not isinstance(expected, Tensor)
        if numbers and all(isinstance(value, float) for value in (actual, expected)):
            both = [_create.tensor(value, _thunder.float64) for value in (actual, expected)]
        _compare(*both, **options, at=_at)
        return
    for key, one, other in pairs:
        assert_close(one, other, **options, _at=f"{_at or ' at'} [{key!r}]")


def make_tensor(*shape, dtype, device=None, low=None, high=None):
    """A tensor of that shape with numbers drawn between low and high: -9 to 9, of unsigned integers 0 to 9, of booleans either."""
    shape = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else list(shape)
    dtype = _thunder.dtype(dtype)
    if dtype is _thunder.bool:
        return _op["to"](_op["randint"](0, 2, shape), dtype, device)
    low = (0 if dtype.name.startswith("uint") else -9) if low is None else low
    high = 10 if high is None and not dtype.is_floating_point else 9 if high is None else high
    drawn = _op["uniform_like"](_op["zeros"](shape), low, high) if dtype.is_floating_point else _op["randint"](low, high, shape)
    return _op["to"](drawn, dtype, device)


testing = _names.namespace("thunder.testing", __doc__, {"assert_close": assert_close, "make_tensor": make_tensor})
