#!/usr/bin/env python3
"""models.py FOLDER [WORD...]: the models that export_models.py wrote, compiled with sizes that vary, beside what ONNX Runtime gave: within 1e-4
at two sizes, in at most two compiles, without a line of shape arithmetic. shape_lines needs the package onnx."""
import pathlib
import re
import sys

import numpy as np
import thunder as th

TOLERANCE = 1e-4


def error(got, wanted):
    """The largest, relative to what is computed: a model whose outputs are small has small errors."""
    if not wanted.size:
        return 0.0
    return float(np.max(np.abs(got - wanted) / (min(1.0, float(np.max(np.abs(wanted)))) + np.abs(wanted) + 1e-30)))


def shape_lines(model, text, file):
    """The lines of a trace that come of Shape, Size and constants alone. What Range makes of these, and what has rank 2 or more, is data
    (positions, masks), as is what is computed of that."""
    lines = {}
    for line in text.splitlines():
        if found := re.search(rf"-- \w+\[(.*?)\].* at {re.escape(file)}:(\d+) ", line):
            lines.setdefault(int(found[2]), []).append((line, found[1].count(",") + bool(found[1])))
    constants = {t.name for t in model.graph.initializer if t.data_type in (6, 7, 9)}
    shapes, left = set(), []
    for number, node in enumerate(model.graph.node, 1):
        made = lines.get(number, [])
        if node.op_type == "Constant":
            constants.update(node.output)
            continue
        names = [n for n in node.input if n]
        from_shapes = node.op_type in ("Shape", "Size") or (all(n in shapes | constants for n in names) and any(n in shapes for n in names))
        if not from_shapes or node.op_type == "Range" or any(rank > 1 for _, rank in made):
            continue
        shapes.update(node.output)
        left += [line for line, _ in made]
    return left


def fixed(f):
    """Dims that the model names and whose sizes the program is for alone."""
    said = th.explain(f, "guards")
    return [f"dim {d} of '{i['name']}' is {found[1]}" for i in th.signature(f)["inputs"] for d, size in enumerate(i["dims"] or ())
            if isinstance(size, str) and (found := re.search(rf"^size\((?:0\.)?{re.escape(i['name'])}, {d}\) == (\d+)$", said, re.MULTILINE))]


def compare(path, cases):
    """What is wrong with the model of a file, as text; else its largest error and compiles, and its last trace as it was recorded. Cases: inputs by
    name, and the outputs that are wanted of them."""
    f = th.load_program(str(path), dynamic=True)
    worst = 0.0
    for given, wanted in cases:
        got = f({k: th.from_numpy(v) for k, v in given.items()})
        got = [got] if len(wanted) == 1 else list(got)
        for g, w in zip(got, wanted):
            g = g.numpy()
            if g.shape != w.shape:
                return f"shape {g.shape}, expected {w.shape}"
            worst = max(worst, error(g, w))
    if not worst <= TOLERANCE:
        return f"the largest error is {worst:.3g}"
    compiles = th.stats(f)["misses"]
    if compiles > 2:
        return f"{compiles} compiles"
    if found := fixed(f):
        return "for one size alone: " + ", ".join(found)
    return worst, compiles, th.last_traces(f)[0].text


def main():
    import onnx
    failed = 0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.npz")):
        path = path.with_suffix(".onnx")
        if len(sys.argv) > 2 and not any(w in path.name for w in sys.argv[2:]):
            continue
        try:
            kept = np.load(path.with_suffix(".npz"))
            found = compare(path, [({k[4:]: kept[k] for k in kept if k.startswith("in" + size)}, [kept[k] for k in kept if k.startswith("out" + size)])
                                   for size in "01"])
            if not isinstance(found, str):
                left = shape_lines(onnx.load(path), found[2], path.name)
                found = f"{len(left)} lines of shape arithmetic:\n" + "\n".join(left[:5]) if left else found
        except Exception as e:
            found = f"{type(e).__name__}: {str(e)[:400]}"
        if isinstance(found, str):
            failed += 1
            print(f"FAILED {path.stem}: {found}", flush=True)
        else:
            print(f"{path.stem}: error {found[0]:.2g}, {found[1]} compiles, {len(found[2].splitlines())} lines", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
