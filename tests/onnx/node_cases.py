#!/usr/bin/env python3
"""node_cases.py [WORD...] [--compiled]: onnx's own cases of each op (onnx.backend.test), or those whose name holds a word, run by our
importer, op by op or compiled, and compared with the expected results. What fails or is refused and is not explained in
node_cases.toml fails the run."""
# covers: core/onnx/rows/*.cpp core/onnx/host/*.cpp
import collections
import pathlib
import re
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
try:
    import onnx
    import onnx.backend.test.loader
except ImportError:
    print("skipped: there is no package onnx")
    sys.exit(0)
try:
    import tomllib
except ImportError:
    import tomli as tomllib
import thunder as th

HERE = pathlib.Path(__file__).resolve().parent


def plain(value):
    """A tensor of a file as an array."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def tensor_of(value):
    value = plain(value)
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [tensor_of(v) for v in value]
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "USOc":
        raise TypeError(f"there are no tensors of {array.dtype}")
    if array.dtype.name == "bfloat16":
        return th.from_numpy(array.astype(np.float32)).to(th.bfloat16)
    if array.dtype.name in ("int4", "int2"):
        array = array.astype(np.int8)
    if array.dtype.name in ("uint4", "uint2"):
        array = array.astype(np.uint8)
    if "float8" in array.dtype.name or "float4" in array.dtype.name:
        raise TypeError(f"there are no tensors of {array.dtype}")
    return th.from_numpy(np.ascontiguousarray(array).reshape(array.shape))


def array_of(value):
    if isinstance(value, (list, tuple)):
        return [array_of(v) for v in value]
    if isinstance(value, th.Tensor):
        return (value.to(th.float32) if value.dtype == th.bfloat16 else value).numpy()
    return value


def difference(got, wanted, rtol, atol):
    """What is wrong, or None."""
    if isinstance(wanted, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
            return f"a list of {len(wanted)} was expected"
        return next((d for g, w in zip(got, wanted) if (d := difference(g, w, rtol, atol))), None)
    wanted = np.asarray(plain(wanted))
    if wanted.dtype.name == "bfloat16":
        wanted = wanted.astype(np.float32)
    if wanted.dtype.name in ("int4", "int2", "uint4", "uint2"):
        wanted = wanted.astype(np.int8 if wanted.dtype.name[0] == "i" else np.uint8)
    if got is None:
        return "nothing was given"
    if got.shape != wanted.shape:
        return f"shape {got.shape}, expected {wanted.shape}"
    if got.dtype != wanted.dtype:
        return f"dtype {got.dtype}, expected {wanted.dtype}"
    if got.dtype.kind in "fc":
        if not np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True):
            off = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
            return f"values differ by up to {np.nanmax(off):.3g}"
        return None
    return None if (got == wanted).all() else "values differ"


def run(case, options):
    """None, or what is wrong."""
    f = th.load_program(case.model.SerializeToString(), **options)
    names = [i.name for i in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        given = {n: tensor_of(v) for n, v in zip(names, inputs) if v is not None}
        got = f(given) if given else f()
        got = [got] if len(case.model.graph.output) == 1 else list(got)
        if re.search("bernoulli|multinomial|random|dropout.*(mask|training|ratio)|training_dropout", case.name) and "zero" not in case.name:
            return None
        for name, g, w in zip(case.model.graph.output, got, outputs):
            low = np.asarray(plain(w)).dtype.name in ("float16", "bfloat16") if not isinstance(w, (list, tuple)) else False
            wrong = difference(array_of(g), w, max(case.rtol, 1e-2 if low else 0), max(case.atol, 1e-3 if low else 0, 1e-6))
            if wrong:
                return f"{name.name}: {wrong}"
    return None


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    options = {} if "--compiled" in sys.argv else {"disable": True}
    explained = tomllib.loads((HERE / "node_cases.toml").read_text()) if (HERE / "node_cases.toml").exists() else {}
    reasons = {re.compile(pattern): reason for reason, patterns in explained.items() for pattern in patterns}
    used, passed, failed, refused = set(), 0, collections.OrderedDict(), collections.OrderedDict()
    for case in onnx.backend.test.loader.load_model_tests(kind="node"):
        if words and not any(w in case.name for w in words):
            continue
        try:
            wrong = run(case, options)
        except Exception as e:
            wrong = f"{type(e).__name__}: {e}"
        if wrong is None:
            passed += 1
            continue
        match = next((p for p in reasons if p.fullmatch(case.name)), None)
        if match:
            used.add(match)
            refused[case.name] = wrong
        else:
            failed[case.name] = wrong
    for name, wrong in failed.items():
        print(f"FAILED {name}: {wrong[:300]}")
    stale = [p.pattern for p in reasons if p not in used] if not words else []
    for pattern in stale:
        print(f"STALE {pattern}: it explains nothing any more")
    total = passed + len(failed) + len(refused)
    print(f"{total} cases: {passed} passed, {len(refused)} explained, {len(failed)} failed")
    return 1 if failed or stale else 0


if __name__ == "__main__":
    sys.exit(main())
