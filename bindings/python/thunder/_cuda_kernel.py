"""Kernels for CUDA devices, as th.op() and th.executor() take them."""


def _rule(who, value, name):
    """A launch rule as text: a number, a formula, or up to three of them."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, (str, int)) and not isinstance(part, bool) for part in parts):
        raise TypeError(f"{who}: {name} must be a number, a formula such as 'ceildiv(x.numel, 256)', or one to three of them, got {value!r}")
    return ", ".join(str(part) for part in parts)


def _text(who, value, name):
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{who}: {name} must be a str, got {type(value).__name__}")
    return value


class Kernel:
    """CUDA C++ compiled by NVRTC for the device, or PTX or machine code (a Triton kernel's, too), with how it is launched.

        scaled = th.cuda.Kernel(r'''
        extern "C" __global__ void scaled(const x_t* x, float c, out_t* out, long long n) {
          const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
          if (i < n) out[i] = (out_t)(c * (float)x[i]);
        }''', "scaled", grid="ceildiv(x.numel, 256)", block=256, parameters="x, float c, out, x.numel")

        th.op("mine.scaled(tensor x, float c) -> tensor", meta=lambda line: line.inputs[0], cuda=scaled)

    source: the text; for each tensor NAME of the op it may call the type of its elements NAME_t, and `bfloat16` and
    `float16` convert to and from float. Or image: bytes of PTX or of a cubin. symbol: the name of its extern "C" kernel. grid, block: one to three
    numbers or formulas, computed when a program is compiled: of tensors they read NAME.numel, .rank, .size(DIM), .stride(DIM),
    .itemsize, and integer arguments by name; + - * / %, ceildiv, min, max. The result is called out, several out0, out1.
    shared_bytes: of dynamic shared memory. parameters: what the kernel takes, by commas; a tensor is its address, an integer
    formula a long long, a float argument a double, unless int, unsigned, size_t, float, double or bool stands before it; null is
    a null pointer; without it the arguments in the schema's order, then the results. options: NVRTC's, such as "-DN=4".
    strided: takes inputs as they lie; else they are dense. checker(line): whether an executor's kernel takes that line.
    """

    def __init__(self, source=None, symbol=None, *, image=None, grid, block=256, parameters=None, options=(), shared_bytes=None,
                 strided=False, checker=None):
        who = f"Kernel {symbol!r}"
        if not isinstance(symbol, str):
            raise TypeError(f"Kernel: symbol, the name of its function, must be a str, got {type(symbol).__name__}")
        if (source is None) == (image is None):
            raise TypeError(f"{who}: it has a source or an image, one of them")
        if image is not None and not isinstance(image, (bytes, bytearray, str)):
            raise TypeError(f"{who}: image must be bytes of PTX or a cubin, got {type(image).__name__}")
        if isinstance(options, str):
            raise TypeError(f"{who}: options must be a list of texts, such as ['-DN=4'], got a str")
        image = image.encode() if isinstance(image, str) else bytes(image) if image is not None else None
        shared = None if shared_bytes is None else _rule(who, shared_bytes, "shared_bytes")
        self.symbol, self.checker = symbol, checker
        self._fields = (symbol, _text(who, source, "source"), image, tuple(options), _text(who, parameters, "parameters"),
                        _rule(who, grid, "grid"), _rule(who, block, "block"), shared, bool(strided))

    def __repr__(self):
        return f"<CUDA kernel {self.symbol}>"
