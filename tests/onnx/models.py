#!/usr/bin/env python3
"""models.py FOLDER [WORD...]: the models that export_models.py wrote, compiled with sizes that vary, beside what ONNX Runtime gave: within 1e-4
at two sizes, in at most two compiles."""
import pathlib
import sys

import numpy as np
import thunder as th


def compare(path):
    kept = np.load(path.with_suffix(".npz"))
    f = th.load_program(str(path), dynamic=True)
    worst = 0.0
    for size in ("0", "1"):
        given = {k.split(".", 1)[1]: th.from_numpy(kept[k]) for k in kept.files if k.startswith("in" + size)}
        wanted = [kept[k] for k in kept.files if k.startswith("out" + size)]
        got = f(given)
        got = [got] if len(wanted) == 1 else list(got)
        for g, w in zip(got, wanted):
            g = g.numpy()
            if g.shape != w.shape:
                return f"shape {g.shape}, expected {w.shape}"
            worst = max(worst, float(np.max(np.abs(g - w) / (1 + np.abs(w)), initial=0)))
    if worst > 1e-4:
        return f"the largest error is {worst:.3g}"
    stats = th.stats(f)
    if stats["misses"] > 2:
        return f"{stats['misses']} compiles"
    return (worst, stats["misses"], len(th.last_traces(f)[0].text.splitlines()))


def main():
    failed = 0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.npz")):
        path = path.with_suffix(".onnx")
        if len(sys.argv) > 2 and not any(w in path.name for w in sys.argv[2:]):
            continue
        try:
            found = compare(path)
        except Exception as e:
            found = f"{type(e).__name__}: {str(e)[:400]}"
        if isinstance(found, str):
            failed += 1
            print(f"FAILED {path.stem}: {found}", flush=True)
        else:
            print(f"{path.stem}: error {found[0]:.2g}, {found[1]} compiles, {found[2]} lines", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
