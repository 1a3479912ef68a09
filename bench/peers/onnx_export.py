"""Functions of PyTorch's, exported to ONNX and run by onnxruntime."""
import io
import logging
import os
import warnings

import onnxruntime
import torch
from agree import agree
from timing import median_ms, report

MORE = {"peer": "onnxruntime", "note": f"onnxruntime {onnxruntime.__version__}, {os.cpu_count()} threads"}


class _Module(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *inputs):
        return self.f(*inputs)


def session_of(f, inputs):
    """`f`: a module, or a function of none."""
    module, file = f if isinstance(f, torch.nn.Module) else _Module(f), io.BytesIO()
    logging.disable(logging.WARNING)  # of packages that it would export more with
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(module, tuple(inputs), file, dynamo=True, verbose=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count()
    return onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])


def time(label, unit, f, inputs, seconds):
    """Once compared with what PyTorch gives."""
    session = session_of(f, inputs)
    feed = {given.name: x.numpy() for given, x in zip(session.get_inputs(), inputs, strict=True)}
    with torch.inference_mode():
        agree(label, torch.from_numpy(session.run(None, feed)[0]), f(*inputs))
    report(label, unit, median_ms(lambda: session.run(None, feed), seconds) * {"us": 1e3, "ms": 1}[unit], **MORE)
