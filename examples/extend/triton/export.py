"""export.py FOLDER: compiles a kernel of Triton's ahead of time, here where a GPU and Triton are (pip install torch triton): the machine code
in FOLDER/swish.cubin, and how it is launched in FOLDER/swish.json, which swish.lua or any other program of ours then runs without Triton
and Python."""
import json
import pathlib
import sys

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit(do_not_specialize=["n"])
def swish(x_pointer, out_pointer, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < n
    x = tl.load(x_pointer + at, mask=inside)
    tl.store(out_pointer + at, x * tl.sigmoid(x), mask=inside)


def main():
    folder = pathlib.Path(sys.argv[1])
    made = swish.warmup(torch.float32, torch.float32, 1, BLOCK, grid=(1,), num_warps=4)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "swish.cubin").write_bytes(made.asm["cubin"])
    # Triton's kernels take pointers to scratch memory behind their own arguments, which this one does not use.
    hidden = len([line for line in made.asm["ptx"].splitlines() if ".param .u64" in line]) - 2
    launch = {"symbol": made.metadata.name, "parameters": "x, out, int x.numel" + ", null" * hidden, "grid": f"ceildiv(x.numel, {BLOCK})",
              "block": 32 * made.metadata.num_warps, "shared_bytes": made.metadata.shared}
    (folder / "swish.json").write_text(json.dumps(launch))
    print(f"Triton {triton.__version__}: {len(made.asm['cubin'])} bytes, {launch}")


main()
