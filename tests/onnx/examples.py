#!/usr/bin/env python3
"""examples.py [WORD...]: what the examples of the tree compile, in Python and in Lua, exported at a call like its first: it passes onnx.checker's full
check, ONNX Runtime gives what that call gave, within 1e-4, and so does the model when it is loaded back. What the exporter refuses is
explained below. Needs onnx and onnxruntime; without them it is skipped."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PYTHON = ["examples/digits/digits.py", *(f"examples/first_hour/{n}.py" for n in ("classifier", "dqn", "gpt", "own_op", "pinn", "vae"))]
LUA = ["examples/digits/digits.lua", "examples/extend/executor.lua", "examples/extend/pass.lua", "examples/extend/lora.lua", "examples/extend/quantize.lua",
       "examples/extend/profiler.lua", "examples/languages/digits.lua examples/digits/data/digits.csv", "tests/examples/text.lua", "tests/examples/parity.lua"]
REFUSED = {"text.lua refused: .*train.lua:62 has no program yet": "it was called once, and its net was given other weights since"}


def flattened(value):
    """The tensors in arguments or results, in the order of a program's inputs."""
    if hasattr(value, "numpy"):
        return [value]
    if isinstance(value, dict):
        return [t for k in sorted(value) for t in flattened(value[k])]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in flattened(v)]
    return []


def record(program, folder):
    """Runs a program of Python, in this process: each compiled function is exported at a call like its first, with what that takes and gives, or after all."""
    import runpy
    import numpy as np
    import thunder as th
    plain, made, recorders = th.compile, [], []

    class Recorder:
        def __init__(self, f):
            self.__dict__.update(f=f, first=None, given=None)
            recorders.append(self)

        def __getattr__(self, name):
            return getattr(self.f, name)

        def __call__(self, *args, **named):
            now = [t.shape for t in flattened([args, named])]
            if self.given and self.first == now:
                self.__dict__["given"] = None
                out = self.record(args, named)
                if out is not None:
                    return out
            out = self.f(*args, **named)
            if self.first is None:
                self.__dict__.update(first=now, given=(args, named))
            return out

        def record(self, args, named):
            target = folder / str(len(made))
            made.append(target)
            target.mkdir()
            for i, t in enumerate(flattened([args, named])):
                np.save(target / f"in{i}.npy", t.detach().cpu().numpy())
            try:
                return self.export(target, args, named)
            except Exception as e:
                (target / "refused").write_text(str(e))
                return None

        def export(self, target, args, named):
            ours = None
            try:
                th.export_onnx(self.f, str(target / "model.onnx"), program=1)
                ours = out = self.f(*args, **named)
            except th.Error as e:
                if "has no program yet" not in str(e):
                    raise
                with th.no_grad():  # on a tape a call is two programs
                    self.f(*args, **named)
                    th.export_onnx(self.f, str(target / "model.onnx"), program=1)
                    out = self.f(*args, **named)
            for i, t in enumerate(flattened(out)):
                np.save(target / f"out{i}.npy", t.detach().cpu().numpy())
            return ours

    def compile(f=None, **options):
        return Recorder(plain(f, **options)) if f is not None else lambda g: Recorder(plain(g, **options))

    th.compile = compile
    sys.argv = [program]
    sys.path.insert(0, str(pathlib.Path(program).parent))
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit:
        pass
    for r in recorders:  # what was called once, or never twice with the same shapes
        if r.given:
            r.record(*r.given)


def verify(folder):
    """None, or what is wrong with one recorded function."""
    import numpy as np
    import onnx
    import onnxruntime as ort
    import thunder as th
    if (folder / "refused").exists():
        return "refused: " + (folder / "refused").read_text()
    path = str(folder / "model.onnx")
    onnx.checker.check_model(path, full_check=True)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = [np.load(f) for f in sorted(folder.glob("in*.npy"), key=lambda f: int(f.stem[2:]))]
    wanted = [np.load(f) for f in sorted(folder.glob("out*.npy"), key=lambda f: int(f.stem[3:]))]
    ports = [p for p in session.get_inputs()]
    if not wanted or len(ports) < len(given):
        return f"it was called once, or {len(ports)} inputs are not {len(given)} arguments"
    named = {p.name: a for p, a in zip(ports, given)}
    initial = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    got = session.run(None, {p.name: named.get(p.name, initial.get(p.name)) for p in ports if p.name in named or p.name in initial})
    back = th.load_program(path)({n: th.from_numpy(np.array(a)) for n, a in named.items()})
    back = [t.numpy() for t in (back if isinstance(back, (list, tuple)) else [back])]
    for who, results in (("ONNX Runtime", got), ("loaded back", back)):
        for a, b in zip(results, wanted):
            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True):
                return f"{who} differs by {np.max(np.abs(a.astype('f8') - b)) if a.shape == b.shape else (a.shape, b.shape)}"
    return None


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--record":
        return record(sys.argv[2], pathlib.Path(sys.argv[3]))
    try:
        import onnx
        import onnxruntime as ort
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 0
    ort.set_default_logger_severity(3)
    tool = os.environ.get("THUNDER_TOOL", str(ROOT / "build/release/bin/thunder"))
    failed = total = 0
    for program in PYTHON + LUA:
        if len(sys.argv) > 1 and not any(w in program for w in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            lua = ".lua" in program
            command = [tool, "run", str(ROOT / "tests/onnx/record.lua"), folder] if lua else [sys.executable, __file__, "--record"]
            words = [str(ROOT / word) for word in program.split()]
            ran = subprocess.run(command + (words if lua else [*words, folder]), cwd=ROOT / ("tests" if lua else "."),
                                 capture_output=True, text=True, timeout=900)
            found = sorted(pathlib.Path(folder).iterdir(), key=lambda f: int(f.name))
            if ran.returncode or not found:
                failed += 1
                print(f"FAILED {program}: {(ran.stderr or ran.stdout)[-500:]}")
            for one in found:
                total += 1
                try:
                    wrong = verify(one)
                except Exception as e:
                    wrong = f"{type(e).__name__}: {str(e)[:300]}"
                reason = next((r for pattern, r in REFUSED.items() if wrong and re.search(pattern, f"{program} {wrong}")), None)
                failed += bool(wrong) and not reason
                print(f"{'FAILED ' if wrong and not reason else ''}{program} {one.name}: {wrong or 'agrees'}{f' ({reason})' if reason else ''}", flush=True)
    print(f"{total} functions, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
