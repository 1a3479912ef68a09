"""Kernels that fusion is made for, written once for each package with PyTorch's names: F has its functions."""
import dataclasses
import importlib
import typing

# Rows and columns: inside a core's own cache, inside the shared one, beyond it, and odd.
SIZES = ((256, 768), (2048, 768), (8192, 4096), (1021, 773))
LOSS_SIZE = (256, 50257)
UPDATED = 30_000_000


# Instructions of arithmetic that a vector of elements takes at least, a multiply-add being one. A quotient is an estimate, a
# step of Newton's and a product; e^x the nearest eighth of a power of two (2), the rest in two parts (2), a polynomial good to
# 2 ulp (3), the power of the eighth, chosen (1) and multiplied in (1), and that of whole numbers (1), to all of which a factor
# or a shift of x adds nothing; erf a choice among eight pieces (2), the distance from its middle (1), seven multiply-adds and as
# many choices of coefficients, and the sign (1).
_QUOTIENT, _EXP, _ERF = 4, 10, 18
_SIGMOID = _EXP + 1 + _QUOTIENT  # of x, times something


@dataclasses.dataclass
class Kernel:
    name: str
    run: typing.Callable           # (F, x, *others)
    operations: tuple              # instructions a vector of x: of the forward, and of the gradients with what they need of it
    others: tuple = ()             # shapes beside x's: "row", "same" or "transposed"


def rotary(F, x, cos, sin):
    """Positions rotated into queries, with halves turned round."""
    low, high = x.chunk(2, -1)
    cat = getattr(F, "cat", None) or importlib.import_module("torch").cat
    return x * cos + cat([-high, low], -1) * sin


KERNELS = (
    # Two sums; shift and factor; w and b. Then also the gradient times w, its two sums, dx (3), and the sums for w (1) and b (1).
    Kernel("layer_norm", lambda F, x, w, b: F.layer_norm(x, [x.shape[-1]], w, b), (4, 11), ("row", "row")),
    Kernel("rms_norm", lambda F, x, w: F.rms_norm(x, [x.shape[-1]], w), (3, 7), ("row",)),
    # The largest, the sum, and a factor or a shift; then a sum, a difference and a product.
    Kernel("softmax", lambda F, x: F.softmax(x, dim=-1), (_EXP + 3, _EXP + 6)),
    Kernel("log_softmax", lambda F, x: F.log_softmax(x, dim=-1), (_EXP + 3, _EXP + 5)),
    # x (1 + erf(x / sqrt 2)) / 2; the gradient has e^(-x^2 / 2) too.
    Kernel("gelu", lambda F, x: F.gelu(x), (_ERF + 3, _ERF + _EXP + 6)),
    # x times a sigmoid of an odd polynomial (3).
    Kernel("gelu tanh", lambda F, x: F.gelu(x, approximate="tanh"), (_SIGMOID + 3, _SIGMOID + 9)),
    Kernel("swiglu", lambda F, x, y: F.silu(x) * y, (_SIGMOID + 1, _SIGMOID + 7), ("same",)),
    Kernel("batch_norm", lambda F, x, w, b: F.batch_norm(x, None, None, w, b, training=True), (4, 11), ("row", "row")),
    Kernel("rotary", rotary, (2, 4), ("row", "row")),
    # Of doubles, as PyTorch sums floats: twice as many vectors, widened and narrowed; in each, of eight, three times a shuffle and a sum;
    # the last element to all lanes, and its sum.
    Kernel("cumsum", lambda F, x: x.cumsum(dim=-1), (20, 20)),
    # Squares of eight turned round are three shuffles a vector.
    Kernel("transpose-add", lambda F, x, y: x + y.transpose(0, 1), (4, 3), ("transposed",)),
)
LOSS_OPERATIONS = (_EXP + 2, _EXP + 4)  # the largest, the sum; then a factor, and the target's difference


def shapes(kernel, rows, columns):
    kinds = {"row": [columns], "same": [rows, columns], "transposed": [columns, rows]}
    return [[rows, columns], *(kinds[other] for other in kernel.others)]


def moved(kernel, rows, columns, backward):
    """Bytes of what must be read and written once: inputs and result; then also the cotangent and the gradients, and
    not the result, which a step has no use for."""
    inputs = sum(4 * _count(shape) for shape in shapes(kernel, rows, columns))
    one = 4 * rows * columns
    return 2 * inputs + one if backward else inputs + one


def operations(kernel, rows, columns, backward):
    """Of all elements, each of one lane."""
    return kernel.operations[backward] * rows * columns


def _count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def label(kernel, rows, columns, backward):
    return f"kernels: {kernel.name}{' f+b' if backward else ''} {rows}x{columns}"
