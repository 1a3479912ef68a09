#!/usr/bin/env python3
"""op_cases.py [--count N] [--seed S] [--compiled] [--corpus FOLDER] [WORD...]: N models of one node by chance (attributes, opsets 7 to 23, dtypes, axes, empty
and of rank 0), of all ops or of those whose name holds a word, run by our importer and compared with ONNX Runtime. What it refuses is no case.
At least 99 in 100 must agree, and what does not must be explained in op_cases.toml. --corpus FOLDER writes the models there instead, for tests
that damage them. Needs onnx and onnxruntime; without them it is skipped."""
import argparse
import collections
import pathlib
import re
import sys
import warnings

warnings.simplefilter("ignore")
try:
    import numpy as np
    import onnx
    import onnxruntime as ort
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)
try:
    import tomllib
except ImportError:
    import tomli as tomllib
import thunder as th

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import op_families as f  # noqa: E402
import op_layers as l  # noqa: E402

OPSETS = (7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 18, 18, 19, 20, 21, 22, 23, 23)
UNIT = dict(low=-0.95, high=0.95)
EXACT = f.FLOATS + f.INTS
FAMILIES = {
    **dict.fromkeys("Abs Neg Sign".split(), f.unary(dtypes=f.FLOATS + ("int64", "int32", "int8"))),
    **dict.fromkeys("Ceil Floor Round Exp Sin Cos Tan Atan Sinh Cosh Tanh Asinh Erf Sigmoid Relu Softplus Softsign HardSwish Mish".split(), f.unary()),
    **dict.fromkeys("Sqrt Log Reciprocal".split(), f.unary(0.05)), **dict.fromkeys("Asin Acos Atanh".split(), f.unary(**UNIT)), "Acosh": f.unary(1.05),
    **dict.fromkeys("Elu Celu ThresholdedRelu LeakyRelu".split(), f.unary(dtypes=("float32",), alpha=(0.1, 2))),
    "Selu": f.unary(dtypes=("float32",), alpha=(1, 2), gamma=(1, 2)), "HardSigmoid": f.unary(dtypes=("float32",), alpha=(0.1, 0.4), beta=(0.1, 0.9)),
    "Shrink": f.unary(dtypes=("float32",), lambd=(0.1, 1), bias=(0, 1)), "Gelu": f.unary(dtypes=("float32",)), "IsNaN": f.unary(),
    "IsInf": f.unary(dtypes=("float32", "float64")), "Not": f.unary(dtypes=("bool",)), "BitwiseNot": f.unary(-90, 90, f.INTS),
    "Identity": f.unary(dtypes=EXACT + ("bool",)), **dict.fromkeys("Add Sub Mul".split(), f.binary()), "Div": f.divide, "Mod": f.mod, "Pow": f.power,
    "BitShift": f.shift, **dict.fromkeys("And Or Xor".split(), f.binary(("bool",))), "Equal": f.binary(EXACT + ("bool",), -2, 2),
    **dict.fromkeys("Less Greater LessOrEqual GreaterOrEqual".split(), f.binary(EXACT, -2, 2)),
    **dict.fromkeys("BitwiseAnd BitwiseOr BitwiseXor".split(), f.binary(f.INTS, -90, 90)), **dict.fromkeys("Min Max".split(), f.variadic(EXACT)),
    **dict.fromkeys("Sum Mean".split(), f.variadic(("float32", "float64"))), "Where": f.where, "PRelu": f.prelu,
    **dict.fromkeys("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare".split(), f.reduce),
    **dict.fromkeys("ArgMax ArgMin".split(), f.arg), **dict.fromkeys("Softmax LogSoftmax Hardmax".split(), f.along()), "CumSum": f.cumsum, "TopK": f.top_k,
    "Reshape": f.reshape, "Flatten": f.flatten, "Squeeze": f.squeeze, "Unsqueeze": f.unsqueeze, "Transpose": f.transpose, "Expand": f.expand,
    "Concat": f.concat, "Split": f.split, "Slice": f.slice_, "Tile": f.tile, "Pad": f.pad, "Gather": f.gather, "GatherElements": f.gather_elements,
    "GatherND": f.gather_nd, "ScatterElements": f.scatter_elements, "ScatterND": f.scatter_nd, "OneHot": f.one_hot, "Trilu": f.trilu,
    "EyeLike": f.eye_like, "DepthToSpace": f.blocks(False), "SpaceToDepth": f.blocks(True), "Range": f.range_, "Cast": f.cast, "CastLike": f.cast_like,
    "Clip": f.clip, "Shape": f.unary(dtypes=EXACT), "Size": f.unary(dtypes=EXACT), "NonZero": f.unary(-1, 1, ("float32", "int64", "bool")),
    "MatMul": f.matmul, "Gemm": f.gemm, "Einsum": f.einsum, "Conv": l.conv, "ConvTranspose": l.conv_transpose,
    **dict.fromkeys("MaxPool AveragePool LpPool".split(), l.pool), **dict.fromkeys("GlobalAveragePool GlobalMaxPool".split(), l.global_pool),
    "BatchNormalization": l.batch_norm, "InstanceNormalization": l.instance_norm, "GroupNormalization": l.group_norm, "LpNormalization": l.lp_norm,
    **dict.fromkeys("LayerNormalization RMSNormalization".split(), l.layer_norm), "LRN": l.lrn, "Resize": l.resize, "GridSample": l.grid_sample,
    "LSTM": l.recurrent(4), "GRU": l.recurrent(3), "RNN": l.recurrent(1), "QuantizeLinear": l.quantize, "DequantizeLinear": l.dequantize,
    "DynamicQuantizeLinear": l.dynamic_quantize, "MatMulInteger": l.matmul_integer, "Attention": l.attention, "RotaryEmbedding": l.rotary,
    "Det": l.determinant, **dict.fromkeys("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss".split(), l.class_loss),
    "ReverseSequence": l.reverse_sequence, "Unique": l.unique, "Compress": l.compress, "CenterCropPad": l.center,
}


def made(op, seed):
    """A model, its inputs, and what it is made of, as text; None: the op is not in that opset."""
    opset = OPSETS[int(np.random.default_rng(seed).integers(len(OPSETS)))]
    try:
        schema = onnx.defs.get_schema(op, opset)
    except Exception:
        return None
    d = f.Draw(seed, op, opset)
    attributes, given, *outputs = FAMILIES[op](d)
    count = outputs[0] if outputs else 1
    if opset < 13 and op == "Hardmax" and any(n == 0 for n in given[0].shape):
        return None
    attributes = {k: v for k, v in attributes.items() if k in schema.attributes}
    names = [f"x{i}" if a is not None else "" for i, a in enumerate(given)]
    while names and not names[-1]:
        names.pop()
    node = onnx.helper.make_node(op, names, [f"y{i}" for i in range(count)], **attributes)
    ports, initializers, inputs = [], [], {}
    for name, a in zip(names, given):
        if not name:
            continue
        plain = np.ascontiguousarray(a).view(np.ndarray).reshape(a.shape)
        if isinstance(a, f.Known) and d.chance(0.8) or d.chance(0.15) and ports:
            initializers.append(onnx.numpy_helper.from_array(plain, name))
        else:
            ports.append(onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(plain.dtype), plain.shape))
            inputs[name] = plain
    results = [onnx.ValueInfoProto(name=n) for n in node.output]
    graph = onnx.helper.make_graph([node], "case", ports, results, initializers)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8 if opset < 19 else 10)
    shapes = ", ".join("-" if a is None else f"{a.dtype}{list(a.shape)}" + (f" of {a.tolist()}" if isinstance(a, f.Known) else "") for a in given)
    return model, inputs, f"opset {opset} {attributes} {shapes}"


def reference(model, inputs):
    """What ONNX Runtime gives; None: it refuses the model, or this call."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, inputs)
    except Exception:
        return None


def difference(got, wanted):
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    if got.dtype.kind != "f":
        return None if (got == wanted).all() else f"values differ: {got.ravel()[:6]}, expected {wanted.ravel()[:6]}"
    near = 2e-2 if got.dtype == np.float16 else 1e-4
    same = np.isclose(got.astype("f8"), wanted.astype("f8"), rtol=near, atol=near, equal_nan=True)
    return None if same.all() else f"values differ: {got[~same].ravel()[:4]}, expected {wanted[~same].ravel()[:4]}"


def compare(model, inputs, wanted, options):
    """None, or what is wrong."""
    try:
        g = th.load_program(model.SerializeToString(), **options)
        given = {k: th.from_numpy(v) for k, v in inputs.items()}
        got = g(given) if given else g()
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:300]}"
    got = [got] if len(wanted) == 1 else list(got)
    return next(filter(None, (difference(a.numpy(), b) for a, b in zip(got, wanted))), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    ort.set_default_logger_severity(4)
    file = HERE / "op_cases.toml"
    explained = {re.compile(p): reason for reason, patterns in tomllib.loads(file.read_text()).items() for p in patterns} if file.exists() else {}
    ops = [op for op in FAMILIES if not options.words or any(w.lower() in op.lower() for w in options.words)]
    cases, tried, wrong, by_op, refused = 0, 0, [], collections.Counter(), collections.Counter()
    while cases < options.count and tried < 20 * options.count:
        op, seed = ops[tried % len(ops)], options.seed * 1_000_003 + tried
        tried += 1
        case = made(op, seed)
        if case and options.corpus:
            options.corpus.joinpath(f"{op}_{seed}.onnx").write_bytes(case[0].SerializeToString())
            cases += 1
            continue
        wanted = reference(*case[:2]) if case else None
        if wanted is None:
            refused[op] += case is not None
            continue
        cases += 1
        by_op[op] += 1
        found = compare(*case[:2], wanted, {"fullgraph": False} if options.compiled else {"disable": True})
        if found:
            wrong.append((f"{op} {case[2]}: {found}", seed))
    if options.corpus:
        return 0
    unexplained = [w for w in wrong if not any(p.search(w[0]) for p in explained)]
    for text, seed in unexplained:
        print(f"DIFFERS {text} (seed {seed})")
    missing = [op for op in ops if not by_op[op]]
    if missing:
        print(f"no case: {' '.join(missing)}")
    print(f"{cases} cases of {len(by_op)} ops: {cases - len(wrong)} agree, {len(wrong)} differ, {len(wrong) - len(unexplained)} of them explained; "
          f"{sum(refused.values())} were refused by ONNX Runtime")
    return 1 if unexplained or len(wrong) * 100 > cases else 0


if __name__ == "__main__":
    sys.exit(main())
