#!/usr/bin/env python3
"""Writes, with each build, what the layers of the languages need not say by hand.

generate.py core FOLDER               the handles and actions of bindings/classes.api, for SWIG and the compiler
generate.py layer LANGUAGE FOLDER FILE...   the files of a layer, with the classes of that description filled in
generate.py python|stubs|lua|lua_calls|python_calls   to standard output: what of Python's and Lua's layers is no more than a call; checked in, as
                                      packages are built without the tree
generate.py ops LIBRARY LANGUAGE FILE       the ops as methods of a language that must know them before it runs; others read
                                      the registry as they load. The rows are those of thunder_context_describe().
"""
import ctypes
import importlib
import json
import pathlib
import sys
from typing import NamedTuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from emit import actions, description, lua, python  # noqa: E402
from emit.layer import fill  # noqa: E402
from emit.ops import WRITERS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def calls_of(language, emitter):
    return lambda _, functions: emitter.source_of_calls((ROOT / f"bindings/{language}/calls.api").read_text(encoding="utf-8"), functions)


PRINTED = {"python": python.source, "stubs": python.stubs, "lua": lua.source, "lua_calls": calls_of("lua", lua), "python_calls": calls_of("python", python)}


class Parameter(NamedTuple):
    name: str
    kind: str
    optional: bool
    has_default: bool
    default: object = None
    text: bool = False  # of a list: a string may stand for it


class Op(NamedTuple):
    name: str
    doc: str
    schema: str
    parameters: tuple
    results: int  # 0: the arguments say how many

    @property
    def is_method(self):
        return bool(self.parameters) and self.parameters[0].kind == "tensor"

    @property
    def required(self):
        """How many parameters have no default."""
        return next((i for i, p in enumerate(self.parameters) if p.has_default), len(self.parameters))


def described(library, what):
    """The JSON text that the library gives, read."""
    thunder = ctypes.CDLL(library)
    thunder.thunder_values_str.restype = ctypes.c_char_p
    thunder.thunder_status_message.restype = ctypes.c_char_p
    pointer = ctypes.c_void_p
    context, values = pointer(), pointer()

    def check(status):
        if status:
            sys.exit(f"{library}: {thunder.thunder_status_message(pointer(status)).decode()}")

    for name in ("context_create", "values_create", "context_describe"):
        getattr(thunder, "thunder_" + name).restype = pointer
    check(thunder.thunder_context_create(None, ctypes.byref(context)))
    check(thunder.thunder_values_create(context, ctypes.byref(values)))
    check(thunder.thunder_context_describe(context, what.encode(), values))
    rows = json.loads(thunder.thunder_values_str(values, ctypes.c_size_t(0), None))
    thunder.thunder_values_release(values)
    thunder.thunder_context_release(context)
    return rows


def read(row, name):
    doc = row["doc"] + (" The result is stored in the first argument." if name != row["name"] else "")
    return Op(name, doc, row["schema"], tuple(Parameter(**p) for p in row["parameters"]), row["results"])


def ops(library):
    """Those that users call, in place ones too, by name."""
    for row in sorted(described(library, "ops"), key=lambda row: row["name"]):
        if not row["hidden"] and not row["prim"]:
            yield read(row, row["name"])
            if row["inplace"]:
                yield read(row, row["name"] + "_")


def write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # what did not change is not built anew
        path.write_text(text, encoding="utf-8")


def layer(language, folder, files):
    emitter = importlib.import_module("emit." + language)
    classes, _ = description.load(ROOT)
    texts = {pathlib.Path(file).name: pathlib.Path(file).read_text(encoding="utf-8") for file in files}
    made = fill(texts, classes, emitter)
    marked = "\n".join(texts.values())
    if hasattr(emitter, "files"):  # a class is a file of its own, where the layer has no mark for it
        made.update(emitter.files([c for c in classes if c.name and f"@members {c.name}@" not in marked]))
    for name, text in made.items():
        write(folder / name, text)


def main():
    what, *given = sys.argv[1:]
    if what == "ops":
        library, language, path = given
        write(pathlib.Path(path), WRITERS[language](list(ops(library))))
        return
    if what in PRINTED:
        print(PRINTED[what](*description.load(ROOT)), end="")
        return
    folder = pathlib.Path(given[0 if what == "core" else 1])
    folder.mkdir(parents=True, exist_ok=True)
    if what == "layer":
        layer(given[0], folder, given[2:])
    else:
        for name, writer in actions.FILES.items():
            write(folder / name, writer(*description.load(ROOT)))


if __name__ == "__main__":
    main()
