"""Doors whose tensors are on a CUDA device, or on what stands in for one: op by op on the CPU is what is right."""
import on_cuda
import ways
from doors import SAME, VARYING, Door

import thunder

_READS = (lambda program: any(".numpy()" in text for _, text in program.body), "numpy reads no memory of a device")


def _row(open, calls=SAME, **named):
    return Door(open, calls, refuses=[_READS], library=on_cuda, **named)


DOORS = {
    "op by op": Door(ways.op_by_op, own=False, whole=False, library=thunder),
    "op by op on a tape": Door(ways.on_a_tape, gradients=True, own=False, whole=False, library=thunder),
    "on the device": _row(ways.op_by_op, own=False, whole=False),
    "on the device, on a tape": _row(ways.on_a_tape, gradients=True, own=False, whole=False),
    "compiled for the device": _row(ways.compiled()),
    "compiled for the device and sizes that vary": _row(ways.compiled(), VARYING),
    "segments on the device": _row(ways.compiled(fullgraph=False)),
    "compiled for the device, on a tape": _row(ways.compiled_on_a_tape(), gradients=True),
}
