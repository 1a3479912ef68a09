#!/usr/bin/env python3
"""small_models.py FOLDER: what export_models.py wrote into the folder, models of up to 1 MB, into tests/onnx/models: NAME.npz holds the
model and inputs of two sizes with what ONNX Runtime gives for them. Weights and inputs of reals are no part of it: tests make them again
(`weights` and `inputs` below), weights as a file beside the model, so that a model takes a few kB. Needs onnx and onnxruntime."""
import pathlib
import sys
import tempfile

import numpy as np

MODELS = pathlib.Path(__file__).resolve().parent / "models"
LARGEST, SHARED, WEIGHTS = 1 << 20, 64, "weights.bin"


def weights():
    """The numbers of all weights, between -0.1 and 0.1: a congruential generator's, so that anything can make them."""
    state, made = 1, []
    for _ in range(1 << 18):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        made.append((state >> 8) / (1 << 24) * 0.2 - 0.1)
    return np.array(made, "<f4")


def inputs(kept, size, numbers):
    """The inputs of a size by their names: integers as they are kept, reals of a kept shape."""
    given = {k[4:]: kept[k] for k in kept if k.startswith(f"in{size}.")}
    return given | {k[7:]: np.resize(numbers * 10, kept[k]) for k in kept if k.startswith(f"shape{size}.")}


def stripped(model):
    """The model without what says where it came from, its large weights in the shared file: one after the other, from the start again at its end."""
    for place in [*model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output, *(n for f in model.functions for n in f.node)]:
        place.ClearField("metadata_props")
        place.ClearField("doc_string")
    for place in [model, model.graph, *model.functions]:
        place.ClearField("metadata_props")
    for place in [model.graph, *model.functions]:
        place.ClearField("value_info")
    at = 0
    for t in model.graph.initializer:
        size = 4 * int(np.prod(t.dims))
        if t.data_type != 1 or size <= SHARED:
            continue
        at = at if at + size <= 1 << 20 else 0
        t.ClearField("raw_data")
        t.ClearField("float_data")
        t.data_location = 1
        for key, value in (("location", WEIGHTS), ("offset", at), ("length", size)):
            t.external_data.add(key=key, value=str(value))
        at += size
    return model


def main():
    import onnx
    import onnxruntime as ort
    ort.set_default_logger_severity(3)
    MODELS.mkdir(exist_ok=True)
    numbers = weights()
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
        if path.stat().st_size > LARGEST:
            continue
        with tempfile.TemporaryDirectory() as folder:
            numbers.tofile(pathlib.Path(folder, WEIGHTS))
            target = pathlib.Path(folder, "model.onnx")
            target.write_bytes(stripped(onnx.load(path)).SerializeToString())
            session = ort.InferenceSession(str(target), providers=["CPUExecutionProvider"])
            given = np.load(path.with_suffix(".npz"))
            kept = {}
            for k in given.files:
                if k.startswith("in"):
                    kept |= {"shape" + k[2:]: np.array(given[k].shape)} if given[k].dtype.kind == "f" else {k: given[k]}
            for size in (0, 1):
                results = session.run(None, inputs(kept, size, numbers))
                kept |= {f"out{size}.{o.name}": a for o, a in zip(session.get_outputs(), results)}
            for name, a in kept.items():
                if not (a.dtype.kind == "i" or np.isfinite(a).all()):
                    print(f"{path.stem}: {name} is not finite, left out")
                    break
            else:
                np.savez_compressed(MODELS / path.stem, model=np.frombuffer(target.read_bytes(), np.uint8), **kept)
                print(f"{path.stem}: {(MODELS / path.stem).with_suffix('.npz').stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main()
