"""One-node models by chance: each family gives attributes and inputs for its ops at an opset. op_cases.py runs them."""
import numpy as np

FLOATS = ("float32", "float32", "float32", "float64", "float16")
INTS = ("int64", "int32", "int8", "uint8", "int16")


class Draw:
    """What a case is drawn from. `known` arrays say shapes, axes and sizes: they are initializers most of the time."""

    def __init__(self, seed, op, opset):
        self.rng = np.random.default_rng(seed)
        self.op, self.opset = op, opset

    def chance(self, p):
        return bool(self.rng.random() < p)

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def shape(self, low=0, high=4, empty=True):
        return tuple(0 if empty and self.chance(0.04) else self.int(1, 5) for _ in range(self.int(low, high)))

    def array(self, dtype, shape, low=-3.0, high=3.0):
        if dtype == "bool":
            return self.rng.random(shape) < 0.5
        if np.dtype(dtype).kind == "u":
            low = max(low, 0)
        if np.dtype(dtype).kind in "iu":
            return np.asarray(self.rng.integers(int(low), int(high) + 1, shape)).astype(dtype)
        return np.asarray(low + (high - low) * self.rng.random(shape)).astype(dtype)

    def broadcast(self, shape):
        """A shape that broadcasts with it."""
        kept = shape[self.int(0, len(shape)):] if shape else ()
        return tuple(1 if self.chance(0.3) else d for d in kept)

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank):
        chosen = [int(a) for a in self.rng.permutation(rank)[:self.int(1, max(1, rank))]]
        return [a - rank if self.chance(0.4) else a for a in chosen]


class Known(np.ndarray):
    """An input that says what is computed."""


def known(values, dtype="int64", shape=None):
    made = np.asarray(values, dtype)
    return (made.reshape(shape) if shape is not None else made).view(Known)


def unary(low=-3.0, high=3.0, dtypes=FLOATS, **attributes):
    def made(d):
        return {k: float(d.rng.uniform(*v)) for k, v in attributes.items() if d.chance(0.7)}, [d.array(d.pick(dtypes), d.shape(), low, high)]
    return made


def binary(dtypes=FLOATS + INTS, low=-5, high=5, second=None):
    def made(d):
        dtype, shape = d.pick(dtypes), d.shape()
        a, b = d.array(dtype, shape, low, high), d.array(dtype, d.broadcast(shape), *(second or (low, high)))
        if d.chance(0.3):
            a, b = (b, a) if not second else (a, b)
        return {}, [a, b]
    return made


def mod(d):
    _, (a, b) = binary()(d)
    b = np.where(b == 0, np.ones_like(b), b)
    return {"fmod": 1} if a.dtype.kind == "f" or d.chance(0.3) else {}, [a, b]


def divide(d):
    _, (a, b) = binary(FLOATS + ("int64", "int32"))(d)
    return {}, [a, np.where(b == 0, np.ones_like(b), b) if b.dtype.kind in "iu" else b]


def power(d):
    _, (a, b) = binary(("float32", "float64", "int64", "int32"))(d)
    return {}, [np.abs(a) + a.dtype.type(0.5) if a.dtype.kind == "f" else a, np.abs(b)]


def shift(d):
    dtype, shape = d.pick(("uint8", "uint32", "uint64")), d.shape()
    return {"direction": d.pick(("LEFT", "RIGHT"))}, [d.array(dtype, shape, 0, 200), d.array(dtype, d.broadcast(shape), 0, 7)]


def variadic(dtypes):
    def made(d):
        dtype, shape = d.pick(dtypes), d.shape()
        return {}, [d.array(dtype, shape)] + [d.array(dtype, d.broadcast(shape)) for _ in range(d.int(0, 2))]
    return made


def where(d):
    dtype, shape = d.pick(FLOATS + INTS + ("bool",)), d.shape()
    return {}, [d.array("bool", d.broadcast(shape)), d.array(dtype, shape), d.array(dtype, d.broadcast(shape))]


def prelu(d):
    shape, dtype = d.shape(1), d.pick(FLOATS)
    return {}, [d.array(dtype, shape), d.array(dtype, d.broadcast(shape))]


def reduce(d):
    dtype = d.pick(("float32", "float32", "float64", "int32", "int64") if d.op not in ("ReduceMin", "ReduceMax") else ("float32", "int32", "int8", "int64"))
    x = d.array(dtype, d.shape(empty=False), 0.2 if "Log" in d.op else -3)
    attributes, inputs = {"keepdims": d.int(0, 1)} if d.chance(0.7) else {}, [x]
    axes = d.axes(x.ndim) if x.ndim and d.chance(0.7) else None
    if d.opset >= (13 if d.op == "ReduceSum" else 18):
        if axes is not None:
            inputs.append(known(axes))
        elif d.chance(0.4):
            attributes["noop_with_empty_axes"] = 1
            inputs.append(known([], shape=(0,)))
    elif axes is not None:
        attributes["axes"] = axes
    return attributes, inputs


def arg(d):
    x = d.array(d.pick(("float32", "int32", "float64", "int8")), d.shape(1, empty=False))
    return {"axis": d.axis(x.ndim), "keepdims": d.int(0, 1), "select_last_index": d.int(0, 1)}, [x]


def along(dtypes=FLOATS, **more):
    def made(d):
        x = d.array(d.pick(dtypes), d.shape(1))
        return ({"axis": d.axis(x.ndim)} if d.chance(0.8) else {}) | {k: d.pick(v) for k, v in more.items()}, [x]
    return made


def cumsum(d):
    x = d.array(d.pick(("float32", "float64", "int32", "int64")), d.shape(1))
    return {"exclusive": d.int(0, 1), "reverse": d.int(0, 1)}, [x, known(d.axis(x.ndim), d.pick(("int32", "int64")), ())]


def top_k(d):
    shape = d.shape(1, empty=False)
    axis = d.axis(len(shape))
    x = d.rng.permutation(int(np.prod(shape))).reshape(shape).astype(d.pick(("float32", "float64", "int64", "int32")))
    return {"axis": axis, "largest": d.int(0, 1), "sorted": 1}, [x, known([d.int(0, shape[axis])])], 2


def reshape(d):
    x = d.array(d.pick(FLOATS + INTS + ("bool",)), d.shape())
    parts, left = [], x.size
    while left > 1 and d.chance(0.7):
        part = d.pick([p for p in range(1, left + 1) if left % p == 0])
        parts.append(part)
        left //= part
    parts.append(left)
    if x.size and d.chance(0.5):
        parts[d.int(0, len(parts) - 1)] = -1
    elif x.size and parts[0] == (x.shape or (None,))[0] and d.chance(0.5):
        parts[0] = 0
    return {}, [x, known(parts)]


def flatten(d):
    x = d.array(d.pick(FLOATS + INTS), d.shape())
    return {"axis": d.int(-x.ndim if d.opset >= 11 else 0, x.ndim)} if d.chance(0.8) else {}, [x]


def squeeze(d):
    shape = tuple(1 if d.chance(0.5) else n for n in d.shape(1))
    x, ones = d.array(d.pick(FLOATS + INTS), shape), [i - len(shape) if d.opset >= 11 and d.chance(0.3) else i for i, n in enumerate(shape) if n == 1]
    if not ones or d.chance(0.3):
        return {}, [x]
    return ({}, [x, known(ones)]) if d.opset >= 13 else ({"axes": ones}, [x])


def unsqueeze(d):
    x = d.array(d.pick(FLOATS + INTS + ("bool",)), d.shape(0, 3))
    more = d.int(1, 2)
    axes = [int(a) for a in d.rng.permutation(x.ndim + more)[:more]]
    return ({}, [x, known(axes)]) if d.opset >= 13 else ({"axes": axes}, [x])


def transpose(d):
    x = d.array(d.pick(FLOATS + INTS + ("bool",)), d.shape())
    return {"perm": [int(a) for a in d.rng.permutation(x.ndim)]} if x.ndim and d.chance(0.8) else {}, [x]


def expand(d):
    x = d.array(d.pick(FLOATS + INTS + ("bool",)), tuple(1 if d.chance(0.5) else n for n in d.shape(0, 3)))
    wanted = [d.int(1, 4) if n == 1 and d.chance(0.6) else n for n in x.shape]
    return {}, [x, known([d.int(1, 3)] * d.int(0, 2) + wanted)]


def concat(d):
    shape, dtype = list(d.shape(1)), d.pick(FLOATS + INTS + ("bool",))
    axis, parts = d.axis(len(shape)), []
    for _ in range(d.int(1, 4)):
        shape[axis] = d.int(0, 4)
        parts.append(d.array(dtype, tuple(shape)))
    return {"axis": axis}, parts


def split(d):
    shape = list(d.shape(1, empty=False))
    axis, parts = d.axis(len(shape)), d.int(1, 3)
    sizes = [d.int(0 if d.opset >= 13 else 1, 3) for _ in range(parts)]
    attributes, inputs = {"axis": axis}, []
    if d.chance(0.6):
        shape[axis] = sum(sizes)
        inputs = [known(sizes)] if d.opset >= 13 else []
        attributes |= {} if d.opset >= 13 else {"split": sizes}
    else:
        shape[axis] = parts * d.int(1, 3)
        attributes |= {"num_outputs": parts} if d.opset >= 18 else {}
    return attributes, [d.array(d.pick(("float32", "int32", "int64")), tuple(shape)), *inputs], parts


def slice_(d):
    x = d.array(d.pick(FLOATS + INTS), d.shape(1))
    axes = d.axes(x.ndim)
    ends = [d.pick((-7, -2, -1, 0, 1, 2, 4, 9, 2**31 - 1)) for _ in axes]
    starts = [d.pick((-9, -3, -1, 0, 1, 2, 5)) for _ in axes]
    if d.opset < 10:
        return {"starts": starts, "ends": ends, "axes": [a % x.ndim for a in axes]}, [x]
    dtype = d.pick(("int64", "int32"))
    inputs = [x, known(starts, dtype), known(ends, dtype), known(axes, dtype)]
    return {}, inputs + ([known([d.pick((-2, -1, 1, 2, 3)) for _ in axes], dtype)] if d.chance(0.6) else [])


def tile(d):
    x = d.array(d.pick(("float32", "float64", "int64", "int32", "bool")), d.shape(1))
    return {}, [x, known([d.int(0, 3) for _ in x.shape])]


def pad(d):
    x = d.array(d.pick(("float32", "float64", "int64", "int32")), tuple(d.int(3, 5) for _ in range(d.int(1, 4))))
    mode = d.pick(("constant", "constant", "reflect", "edge"))
    pads = [d.int(-1 if mode == "constant" else 0, 2) for _ in range(2 * x.ndim)]
    if d.opset < 11:
        return {"mode": mode, "pads": [max(p, 0) for p in pads]}, [x.astype("float32")]
    return {"mode": mode}, [x, known(pads)] + ([d.array(x.dtype.name, ())] if mode == "constant" and d.chance(0.6) else [])


def gather(d):
    x = d.array(d.pick(FLOATS + INTS + ("bool",)), d.shape(1, 3, empty=False))
    axis = d.axis(x.ndim)
    n = x.shape[axis]
    return {"axis": axis}, [x, d.array(d.pick(("int64", "int32")), d.shape(0, 2), -n if d.opset >= 11 else 0, n - 1)]


def gather_elements(d):
    x = d.array(d.pick(FLOATS + INTS), d.shape(1, 3, empty=False))
    axis = d.axis(x.ndim)
    shape = [d.int(1, n) for n in x.shape]
    shape[axis] = d.int(1, 5)
    return {"axis": axis}, [x, d.array(d.pick(("int64", "int32")), tuple(shape), -x.shape[axis], x.shape[axis] - 1)]


def places(d, shape, width, count):
    """Indices of `count` whole places among the first `width` dims."""
    return np.stack([d.rng.integers(-n, n, count) for n in shape[:width]], -1).astype("int64") if width else np.zeros((count, 0), "int64")


def gather_nd(d):
    x = d.array(d.pick(("float32", "int64", "float64", "int32")), d.shape(1, 4, empty=False))
    return {}, [x, places(d, x.shape, d.int(1, x.ndim), d.int(1, 4))]


def scatter_elements(d):
    x = d.array(d.pick(("float32", "int64", "float64", "int32")), d.shape(1, 3, empty=False))
    axis = d.axis(x.ndim)
    shape = [d.int(1, n) for n in x.shape]
    order = [d.rng.permutation(x.shape[axis])[:shape[axis]]]
    indices = np.broadcast_to(np.reshape(order, [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]), shape).astype("int64")
    modes = ["none"] + (["add", "mul"] if d.opset >= 16 else []) + (["min", "max"] if d.opset >= 18 else [])
    return {"axis": axis, **({"reduction": d.pick(modes)} if d.opset >= 16 else {})}, [x, np.array(indices), d.array(x.dtype.name, tuple(shape))]


def scatter_nd(d):
    x = d.array(d.pick(("float32", "int64", "float64", "int32")), d.shape(1, 3, empty=False))
    width = d.int(1, x.ndim)
    cells = int(np.prod(x.shape[:width]))
    count = d.int(1, min(cells, 4))
    indices = np.stack(np.unravel_index(d.rng.permutation(cells)[:count], x.shape[:width]), -1).astype("int64")
    modes = ["none"] + (["add", "mul"] if d.opset >= 16 else []) + (["min", "max"] if d.opset >= 18 else [])
    return {"reduction": d.pick(modes)} if d.opset >= 16 else {}, [x, indices, d.array(x.dtype.name, (count, *x.shape[width:]))]


def one_hot(d):
    depth, indices = d.int(1, 5), None
    indices = d.array("int64", d.shape(0, 3), -depth, depth - 1)
    return {"axis": d.int(-indices.ndim - 1, indices.ndim)}, [indices, known([depth], shape=(1,) if d.chance(0.5) else ()), d.array("float32", (2,))]


def trilu(d):
    x = d.array(d.pick(("float32", "float64", "int64", "int32", "bool")), d.shape(2))
    return {"upper": d.int(0, 1)}, [x] + ([known(d.int(-3, 3), shape=())] if d.chance(0.7) else [])


def eye_like(d):
    return {"k": d.int(-2, 2), **({"dtype": d.pick((1, 7))} if d.chance(0.5) else {})}, [d.array(d.pick(("float32", "int64", "int32")), d.shape(2, 2))]


def blocks(to_depth):
    def made(d):
        b, (n, c, h, w) = d.int(1, 3), (d.int(1, 2), d.int(1, 3), d.int(1, 3), d.int(1, 3))
        shape = (n, c, h * b, w * b) if to_depth else (n, c * b * b, h, w)
        return {"blocksize": b} | ({} if to_depth or d.opset < 11 else {"mode": d.pick(("DCR", "CRD"))}), [d.array(d.pick(("float32", "float64")), shape)]
    return made


def range_(d):
    dtype = d.pick(("int64", "int32", "float32", "float64", "int16"))
    return {}, [known(d.int(-5, 5), dtype, ()), known(d.int(-5, 9), dtype, ()), known(d.pick((-2, -1, 1, 2, 3)), dtype, ())]


def cast(d):
    to = {1: 0, 11: 0, 10: 0, 7: 0, 6: 0, 3: 0, 2: 0, 9: 0}
    x = d.array(d.pick(FLOATS + INTS + ("bool",)), d.shape(), 0, 90)
    return {"to": d.pick(list(to))}, [x]


def cast_like(d):
    return {}, [d.array(d.pick(FLOATS + INTS), d.shape(), 0, 90), d.array(d.pick(FLOATS + INTS), ())]


def clip(d):
    dtype = d.pick(("float32", "float64", "int32", "int64", "int8")) if d.opset >= 12 else "float32"
    x = d.array(dtype, d.shape())
    low, high = d.array(dtype, (), -2, 0), d.array(dtype, (), 0, 2)
    if d.opset < 11:
        return {"min": float(low), "max": float(high)}, [x]
    return {}, [x] + d.pick(([], [low], [low, high], [None, high]))


def matmul(d):
    dtype = d.pick(("float32", "float32", "float64", "int32", "int64"))
    n, k, m, batch = d.int(1, 5), d.int(0, 5), d.int(1, 5), d.shape(0, 2)
    a, b = (*batch, n, k), (*d.broadcast(batch), k, m)
    a, b = d.pick(((a, b), (a, b), (a, b), ((k,), (k, m)), (a, (k,)), ((k,), (k,))))
    return {}, [d.array(dtype, a), d.array(dtype, b)]


def gemm(d):
    n, k, m, ta, tb = d.int(1, 5), d.int(1, 5), d.int(1, 5), d.int(0, 1), d.int(0, 1)
    dtype = d.pick(("float32", "float64"))
    attributes = {"transA": ta, "transB": tb} | {k: float(d.rng.uniform(-2, 2)) for k in ("alpha", "beta") if d.chance(0.5)}
    inputs = [d.array(dtype, (k, n) if ta else (n, k)), d.array(dtype, (m, k) if tb else (k, m))]
    return attributes, inputs + ([d.array(dtype, d.pick(((n, m), (m,), (1, m), (n, 1), ())))] if d.opset < 11 or d.chance(0.7) else [])


def einsum(d):
    equation, shapes = d.pick((("ij,jk->ik", ((2, 3), (3, 4))), ("bij,bjk->bik", ((2, 2, 3), (2, 3, 2))), ("ii->i", ((3, 3),)), ("ij->ji", ((2, 3),)),
                               ("i,j->ij", ((2,), (3,))), ("bhid,bhjd->bhij", ((1, 2, 3, 2), (1, 2, 4, 2))), ("ij->", ((2, 3),)), ("...ij->...ji", ((2, 3, 4),))))
    return {"equation": equation}, [d.array("float32", s) for s in shapes]
