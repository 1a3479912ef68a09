"""Kernels that fusion is made for, written once for each package with PyTorch's names: F has its functions."""
import dataclasses
import importlib
import typing

# Rows and columns: inside a core's own cache, inside the shared one, beyond it, and odd.
SIZES = ((256, 768), (2048, 768), (8192, 4096), (1021, 773))
LOSS_SIZE = (256, 50257)
UPDATED = 30_000_000


@dataclasses.dataclass
class Kernel:
    name: str
    run: typing.Callable           # (F, x, *others)
    others: tuple = ()             # shapes beside x's: "row", "same" or "transposed"


def rotary(F, x, cos, sin):
    """Positions rotated into queries, with halves turned round."""
    low, high = x.chunk(2, -1)
    cat = getattr(F, "cat", None) or importlib.import_module("torch").cat
    return x * cos + cat([-high, low], -1) * sin


KERNELS = (
    Kernel("layer_norm", lambda F, x, w, b: F.layer_norm(x, [x.shape[-1]], w, b), ("row", "row")),
    Kernel("rms_norm", lambda F, x, w: F.rms_norm(x, [x.shape[-1]], w), ("row",)),
    Kernel("softmax", lambda F, x: F.softmax(x, dim=-1)),
    Kernel("log_softmax", lambda F, x: F.log_softmax(x, dim=-1)),
    Kernel("gelu", lambda F, x: F.gelu(x)),
    Kernel("gelu tanh", lambda F, x: F.gelu(x, approximate="tanh")),
    Kernel("swiglu", lambda F, x, y: F.silu(x) * y, ("same",)),
    Kernel("batch_norm", lambda F, x, w, b: F.batch_norm(x, None, None, w, b, training=True), ("row", "row")),
    Kernel("rotary", rotary, ("row", "row")),
    Kernel("cumsum", lambda F, x: x.cumsum(dim=-1)),
    Kernel("transpose-add", lambda F, x, y: x + y.transpose(0, 1), ("transposed",)),
)


def shapes(kernel, rows, columns):
    kinds = {"row": [columns], "same": [rows, columns], "transposed": [columns, rows]}
    return [[rows, columns], *(kinds[other] for other in kernel.others)]


def moved(kernel, rows, columns, backward):
    """Bytes of what must be read and written once: inputs and result; then also the cotangent and the gradients, and
    not the result, which a step has no use for."""
    inputs = sum(4 * _count(shape) for shape in shapes(kernel, rows, columns))
    one = 4 * rows * columns
    return 2 * inputs + one if backward else inputs + one


def _count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def label(kernel, rows, columns, backward):
    return f"kernels: {kernel.name}{' f+b' if backward else ''} {rows}x{columns}"
