"""The same for layers: convolutions, pools, norms, recurrences, attention, losses, quantised numbers."""
import numpy as np

from op_families import known


def windows(d, dims, pools=False):
    kernel = [d.int(1, 3) for _ in range(dims)]
    attributes = {"strides": [d.int(1, 2) for _ in range(dims)]} if d.chance(0.7) else {}
    if d.chance(0.5) and (not pools or d.opset >= 10) and (d.op != "AveragePool" or d.opset >= 19) and (d.op != "LpPool" or d.opset >= 18):
        attributes["dilations"] = [d.int(1, 2) for _ in range(dims)]
    how = d.pick(("pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if how == "pads":
        attributes["pads"] = [d.int(0, k - 1) for k in kernel] + [d.int(0, k - 1) for k in kernel]
    elif how != "none":
        attributes["auto_pad"] = how
        if how.startswith("SAME"):
            attributes.pop("dilations", None)
    return kernel, attributes


def conv(d):
    dims, group = d.pick((1, 2, 2, 2, 3)), d.pick((1, 1, 2))
    kernel, attributes = windows(d, dims)
    i, o = group * d.int(1, 2), group * d.int(1, 2)
    x, w = d.array("float32", (d.int(1, 2), i, *(d.int(5, 8) for _ in kernel))), d.array("float32", (o, i // group, *kernel))
    return attributes | {"group": group, "kernel_shape": kernel}, [x, w] + ([d.array("float32", (o,))] if d.chance(0.5) else [])


def conv_transpose(d):
    dims, group = d.pick((1, 2, 2)), d.pick((1, 1, 2))
    kernel, attributes = windows(d, dims)
    strides = attributes.get("strides", [1] * dims)
    if d.chance(0.3) and "auto_pad" not in attributes:
        attributes["output_padding"] = [d.int(0, s - 1) for s in strides]
    i, o = group * d.int(1, 2), d.int(1, 2)
    x, w = d.array("float32", (d.int(1, 2), i, *(d.int(3, 6) for _ in kernel))), d.array("float32", (i, o, *kernel))
    return attributes | {"group": group, "kernel_shape": kernel}, [x, w] + ([d.array("float32", (o * group,))] if d.chance(0.5) else [])


def pool(d):
    dims = d.pick((1, 2, 2, 3))
    kernel, attributes = windows(d, dims, pools=True)
    attributes["kernel_shape"] = kernel
    if d.op != "LpPool" and d.opset >= 10 or d.op == "LpPool" and d.opset >= 18:
        attributes |= {"ceil_mode": 1} if d.chance(0.3) and "auto_pad" not in attributes else {}
    if d.op == "AveragePool":
        attributes["count_include_pad"] = d.int(0, 1)
    if d.op == "LpPool":
        attributes["p"] = d.int(1, 2)
    outputs = 2 if d.op == "MaxPool" and dims <= 2 and d.chance(0.2) and "dilations" not in attributes else 1
    return attributes, [d.array("float32", (d.int(1, 2), d.int(1, 3), *(d.int(5, 8) for _ in kernel)))], outputs


def global_pool(d):
    return {}, [d.array("float32", (d.int(1, 2), d.int(1, 3), *d.shape(1, 3, empty=False)))]


def channels(d, count):
    shape = (d.int(1, 3), d.int(1, 4), *d.shape(1, 2, empty=False))
    return d.array("float32", shape), [d.array("float32", (shape[1],), 0.2, 2) for _ in range(count)]


def batch_norm(d):
    x, rest = channels(d, 4)
    return {"epsilon": d.pick((1e-5, 1e-2))} if d.chance(0.5) else {}, [x, *rest]


def instance_norm(d):
    x, rest = channels(d, 2)
    return {"epsilon": d.pick((1e-5, 1e-2))}, [x, *rest]


def layer_norm(d):
    x = d.array(d.pick(("float32", "float32", "float64")), d.shape(1, 4, empty=False))
    axis = d.axis(x.ndim)
    inner = x.shape[axis:]
    inputs = [x, d.array(x.dtype.name, inner)]
    return {"axis": axis, "epsilon": d.pick((1e-5, 1e-2))}, inputs + ([d.array(x.dtype.name, inner)] if d.op == "LayerNormalization" and d.chance(0.6) else [])


def group_norm(d):
    groups, each = d.int(1, 3), d.int(1, 2)
    n = groups * each if d.opset >= 21 else groups
    x = d.array("float32", (d.int(1, 2), groups * each, *d.shape(1, 2, empty=False)))
    return {"num_groups": groups}, [x, d.array("float32", (n,)), d.array("float32", (n,))]


def lp_norm(d):
    x = d.array("float32", d.shape(1, 3, empty=False), 0.1)
    return {"axis": d.axis(x.ndim), "p": d.int(1, 2)}, [x]


def lrn(d):
    return {"size": d.pick((1, 3, 5)), "alpha": 0.01, "beta": 0.6, "bias": 1.5}, [d.array("float32", (1, 5, 2, 3))]


def resize(d):
    x = d.array("float32", (d.int(1, 2), d.int(1, 2), d.int(2, 5), d.int(2, 5)))
    mode = d.pick(("nearest", "linear", "cubic"))
    attributes = {"mode": mode, "coordinate_transformation_mode": d.pick(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))}
    if mode == "nearest":
        attributes["nearest_mode"] = d.pick(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        attributes["cubic_coeff_a"] = d.pick((-0.75, -0.5))
    by_size = d.chance(0.5)
    roi = known([], "float32", (0,)) if d.opset < 13 else None
    if by_size:
        return attributes, [x, roi, known([], "float32", (0,)) if d.opset < 13 else None, known([*x.shape[:2], d.int(1, 8), d.int(1, 8)])]
    return attributes, [x, roi, known([1, 1, d.pick((0.5, 1, 2, 1.5)), d.pick((0.5, 2, 3))], "float32")]


def grid_sample(d):
    x = d.array("float32", (d.int(1, 2), d.int(1, 2), d.int(2, 5), d.int(2, 5)))
    modes = ("bilinear", "nearest", "bicubic") if d.opset < 20 else ("linear", "nearest", "cubic")
    return ({"mode": d.pick(modes), "padding_mode": d.pick(("zeros", "border", "reflection")), "align_corners": d.int(0, 1)},
            [x, d.array("float32", (x.shape[0], d.int(1, 3), d.int(1, 3), 2), -1.2, 1.2)])


def recurrent(gates):
    def made(d):
        steps, batch, inputs, hidden = d.int(1, 4), d.int(1, 3), d.int(1, 4), d.int(1, 4)
        direction = d.pick(("forward", "reverse", "bidirectional"))
        ways = 2 if direction == "bidirectional" else 1
        given = [d.array("float32", (steps, batch, inputs)), d.array("float32", (ways, gates * hidden, inputs), -0.5, 0.5),
                 d.array("float32", (ways, gates * hidden, hidden), -0.5, 0.5)]
        if d.chance(0.6):
            given.append(d.array("float32", (ways, 2 * gates * hidden), -0.5, 0.5))
            if d.chance(0.5):
                given += [d.array("int32", (batch,), 1, steps) if d.chance(0.4) else None, d.array("float32", (ways, batch, hidden))]
                given += [d.array("float32", (ways, batch, hidden))] if gates == 4 and d.chance(0.7) else []
        attributes = {"direction": direction, "hidden_size": hidden} | ({"linear_before_reset": d.int(0, 1)} if gates == 3 else {})
        return attributes, given, 3 if gates == 4 else 2
    return made


def quantize(d):
    x = d.array("float32", d.shape(1, 3), -100, 100)
    kind = d.pick(("uint8", "int8"))
    return {}, [x, d.array("float32", (), 0.3, 2), d.array(kind, (), 0, 20)]


def dequantize(d):
    x = d.array(d.pick(("uint8", "int8")), d.shape(1, 3), -100, 100)
    return {}, [x, d.array("float32", (), 0.3, 2), d.array(x.dtype.name, (), 0, 20)]


def dynamic_quantize(d):
    return {}, [d.array("float32", d.shape(1, 3, empty=False), -9, 9)], 3


def matmul_integer(d):
    n, k, m = d.int(1, 4), d.int(1, 4), d.int(1, 4)
    a, b = d.array("uint8", (n, k), 0, 200), d.array(d.pick(("uint8", "int8")), (k, m), -100, 100)
    return {}, [a, b] + ([d.array("uint8", (), 0, 9), d.array(b.dtype.name, (), 0, 9)] if d.chance(0.6) else [])


def attention(d):
    heads, shared, batch, q, k, size = 4, d.pick((4, 2)), d.int(1, 2), d.int(1, 4), d.int(2, 5), d.int(2, 4)
    given = [d.array("float32", (batch, heads, q, size)), d.array("float32", (batch, shared, k, size)), d.array("float32", (batch, shared, k, size))]
    attributes = {"is_causal": d.int(0, 1)} | ({"scale": 0.3} if d.chance(0.3) else {}) | ({"softcap": 2.0} if d.chance(0.2) else {})
    if not attributes["is_causal"] and d.chance(0.5):
        given.append(d.array("float32", (q, k)))
    return attributes, given


def rotary(d):
    batch, heads, length, size = d.int(1, 2), d.int(1, 3), d.int(1, 4), 2 * d.int(1, 3)
    return ({"interleaved": d.int(0, 1)}, [d.array("float32", (batch, heads, length, size)), d.array("float32", (8, size // 2)),
                                            d.array("float32", (8, size // 2)), d.array("int64", (batch, length), 0, 7)])


def determinant(d):
    n = d.int(1, 4)
    return {}, [d.array("float32", (*d.shape(0, 2, empty=False), n, n))]


def class_loss(d):
    n, c, rest = d.int(1, 4), d.int(2, 5), d.shape(0, 2, empty=False)
    scores, labels = d.array("float32", (n, c, *rest), 0.1), d.array("int64", (n, *rest), 0, c - 1)
    return {"reduction": d.pick(("none", "mean", "sum"))}, [scores, labels] + ([d.array("float32", (c,), 0.2, 2)] if d.chance(0.4) else [])


def reverse_sequence(d):
    time, batch = d.int(1, 5), d.int(1, 4)
    return {"time_axis": 0, "batch_axis": 1}, [d.array("float32", (time, batch, 2)), d.array("int64", (batch,), 1, time)]


def unique(d):
    x = d.array(d.pick(("float32", "int64", "int8")), d.shape(1, 2, empty=False), -2, 2)
    x = np.round(x)
    return {"sorted": 1} | ({"axis": d.axis(x.ndim)} if d.chance(0.3) else {}), [x], 4


def compress(d):
    x = d.array(d.pick(("float32", "int64")), d.shape(1, 3, empty=False))
    axis = d.axis(x.ndim) if d.chance(0.6) else None
    n = x.size if axis is None else x.shape[axis]
    return {} if axis is None else {"axis": axis}, [x, d.array("bool", (d.int(1, n),))]


def center(d):
    x = d.array("float32", d.shape(2, 3, empty=False))
    return {"axes": [0, 1]}, [x, known([d.int(1, 6), d.int(1, 6)])]
