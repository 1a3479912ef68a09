"""One entry of op_db with other numbers in the places of the plain numbers that its samples give: numbers that are not exact in float32, lie
beyond float16 or below it, zeros with a sign, and for what stands beside a tensor's elements integers that float64 does not hold. By PyTorch,
by ours op by op, and compiled."""
import torch
from torch.testing._internal.opinfo.core import SampleInput

import borders
import calls
import samples
import thunder as th

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8)
COMPILED = (torch.float64, torch.float16)
REALS = (0.1, 65536.0, 1e-9, -0.0, 16777217.0, 1e39)
WHOLE = (2 ** 53 + 1, 2 ** 24 + 1, 70000, 300, -1)
_BESIDE = {"value", "alpha", "beta", "other", "fill_value", "min", "max", "exponent", "weight", "end"}      # numbers beside elements, not sizes
_SIZES = {"scale_factor"}      # reals that say how large a result is
_MOST = 3            # samples of one op


def dtypes_of(entry):
    return [dtype for dtype in DTYPES if entry.supports_dtype(dtype, "cpu")]


def _places(sample):
    """(how to put a number there, what stands there, its name) of each plain number among the arguments."""
    for at, value in enumerate(sample.args):
        yield lambda n, at=at: SampleInput(sample.input, args=(*sample.args[:at], n, *sample.args[at + 1:]), kwargs=sample.kwargs), value, ""
    for name, value in sample.kwargs.items():
        yield lambda n, name=name: SampleInput(sample.input, args=sample.args, kwargs={**sample.kwargs, name: n}), value, name


def _tried(sample):
    """(which number, sample with it)."""
    for put, value, name in _places(sample):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or name in _SIZES:
            continue
        for number in [*(REALS if isinstance(value, float) or name in _BESIDE else ()), *(WHOLE if isinstance(value, int) and name in _BESIDE else ())]:
            made = put(number)
            made.output_process_fn_grad = sample.output_process_fn_grad
            yield f"{name or 'number'} = {number!r}", made


def _rows(entry, dtype, label, sample):
    runs = [("", lambda f: f), *([("compiled ", th.compile)] if dtype in COMPILED else [])]
    for name, run in runs:
        what, text = samples._outcome(lambda: borders._forward(entry, sample, run, True))
        yield {"dtype": calls.dtype_name(dtype), "part": name + "forward", "what": what, "text": f"{label}: {text}" if text else ""}
        if what in ("refused", "not ours"):
            return


def run_entry(entry, dtypes, values, only=None):
    """Rows as of samples.run_entry()."""
    rows = []
    if not values:
        return rows
    for dtype in dtypes:
        _, given = samples.draw(entry, dtype)
        for number, sample in enumerate(given[:_MOST]):
            if only is not None and number != only:
                continue
            for label, tried in _tried(sample):
                if samples._torch_takes(entry, tried):
                    rows += [{**row, "sample": number} for row in _rows(entry, dtype, label, tried)]
    return rows

