#!/usr/bin/env python3
"""generate.py LIBRARY LANGUAGE FILE: writes the ops of the library as methods of a language that must know them before
it runs. Languages that define methods as they load read the registry themselves.

The rows are those of thunder_context_describe(), so that there is no second list; they are written with each build.
"""
import ctypes
import json
import pathlib
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parent))


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


def main():
    library, language, path = sys.argv[1:]
    from languages import WRITERS
    pathlib.Path(path).write_text(WRITERS[language](list(ops(library))), encoding="utf-8")


if __name__ == "__main__":
    main()
