"""Ways to run a program that was saved without the package: as C without the library, and by the tool, from Lua."""
import ctypes
import os
import pathlib
import subprocess
import tempfile

import libraries
import ways


def _saved(f, arguments, library, folder):
    """The path of the program, and what is known of its results."""
    made = ways.prepared(f, arguments, library, {"dynamic": False})
    path = os.path.join(folder, "program.thunder")
    library.save_program(made, path)
    return path, library.signature(made)["outputs"]


def _dtype(name):
    """"float32" of "f32"."""
    letters = name.rstrip("0123456789")
    return {"f": "float", "i": "int", "u": "uint", "bf": "bfloat"}.get(letters, letters) + name[len(letters):]


# ---- C ----

def _built(path, folder, library):
    """The function of its C, which holds nothing of the library."""
    library.export_c(path, folder, name="program", cpu="native")
    sources = [str(one) for one in pathlib.Path(folder).iterdir() if one.suffix in (".o", ".S")]
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", "program.c", *sources, "-lm", "-o", "program.so"],
        cwd=folder, check=True)
    with open(os.path.join(folder, "program.h"), encoding="utf-8") as header:
        bytes_needed = next(int(line.split()[-1]) for line in header if "WORKSPACE_BYTES" in line)
    return ctypes.CDLL(os.path.join(folder, "program.so")).program, bytes_needed


def as_c(f, module, library):
    """Exported as C, compiled by the C compiler, and called with dense arrays and a workspace."""
    made = []

    def run(*arguments):
        given = [one.detach().clone() for one in libraries.tensors(arguments)]
        if not made:
            with tempfile.TemporaryDirectory() as folder:
                path, outputs = _saved(f, arguments, library, folder)
                made.extend([*_built(path, folder, library), outputs])
        call, workspace, outputs = made
        results = [library.empty(one["dims"], dtype=_dtype(one["dtype"])) for one in outputs]
        memory = ctypes.create_string_buffer(workspace + 64)
        arrays = [*(one.data_ptr() for one in (*given, *results)), -(-ctypes.addressof(memory) // 64) * 64]
        step = call(*map(ctypes.c_void_p, arrays))
        if step:
            raise library.Error(f"step {step} met an index out of range")
        for one, dense in zip(libraries.tensors(arguments), given):
            one.detach().copy_(dense)
        return tuple(results), None
    return run


# ---- Lua ----

_SCRIPT = """local th = require "thunder"
local given, named = th.load(GIVEN), {}
local results = th.load_program(PROGRAM)(ARGUMENTS)
if th.is_tensor(results) then results = { results } end
for at, one in ipairs(results) do named["result" .. at] = one end
for name, one in pairs(given) do named[name] = one end
th.save(named, MADE)
"""


def _run_by_lua(program, arguments, library):
    """What the tool's process makes of the program and the arguments: results and arguments by name."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("PROGRAM", "GIVEN", "MADE", "SCRIPT")}
        pathlib.Path(paths["PROGRAM"]).write_bytes(program)
        library.save({f"argument{at}": one.detach() for at, one in enumerate(arguments) if libraries.is_tensor(one)}, paths["GIVEN"])
        texts = [f"given.argument{at}" if libraries.is_tensor(one) else str(one) for at, one in enumerate(arguments)]
        text = _SCRIPT.replace("ARGUMENTS", ", ".join(texts))
        for name in ("PROGRAM", "GIVEN", "MADE"):
            text = text.replace(name, f'"{paths[name]}"')
        pathlib.Path(paths["SCRIPT"]).write_text(text, encoding="utf-8")
        tool = pathlib.Path(library.__file__).resolve().parents[2] / "bin/thunder"  # of the same build
        done = subprocess.run([tool, "run", paths["SCRIPT"]], capture_output=True, text=True, check=False)
        if done.returncode:
            raise library.Error(done.stderr)
        return {name: one.clone() for name, one in library.load(paths["MADE"]).items()}


def by_lua(f, module, library):
    """Saved, and run by the tool in a process of its own; what that wrote into arguments is written back."""
    kept = []

    def run(*arguments):
        if not kept:
            with tempfile.TemporaryDirectory() as folder:
                path, outputs = _saved(f, arguments, library, folder)
                kept.extend([pathlib.Path(path).read_bytes(), len(outputs)])
        program, count = kept
        made = _run_by_lua(program, arguments, library)
        for at, one in enumerate(arguments):
            if libraries.is_tensor(one):
                one.detach().copy_(made[f"argument{at}"])
        return tuple(made[f"result{at + 1}"] for at in range(count)), None
    return run
