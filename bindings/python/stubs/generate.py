"""generate.py FOLDER: writes the type stubs of the package that is on the path, from what the registry describes.

They are made with each build and never checked in, so that they cannot be stale.
"""
import inspect
import pathlib
import sys

import thunder
from thunder import _ops, _schema, _thunder

from described import COMPILED, FUNCTIONS
from module_texts import DATA, FUNC, IMPORTS, MODULE, OPTIMIZER, PARALLEL
from texts import HEAD, TENSOR

TYPES = {"tensor": "_TensorLike", "int": "builtins.int", "float": "builtins.float", "bool": "builtins.bool",
         "str": "builtins.str", "dtype": "_DtypeLike", "device": "_DeviceLike", "int[]": "Sequence[builtins.int] | builtins.int",
         "float[]": "Sequence[builtins.float]", "tensor[]": "Sequence[Tensor]", "function": "Callable[..., Any]"}
SPELLED_OUT = ("max", "min", "allclose", "einsum")  # in texts.py
OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
COMPARISONS = "lt le gt ge eq ne".split()


def parameter(p, name=None):
    text = f"{name or p.name}: {TYPES[p.kind]}{' | builtins.str' if p.text else ''}{' | None' if p.optional else ''}"
    return text if p.default is inspect.Parameter.empty else f"{text} = {p.default!r}"


def spelled_out(parameters):
    """Which list of integers may be given as single arguments: one that no parameter with numbers follows."""
    for i, p in enumerate(parameters):
        if p.kind == "int[]" and all(q.kind in ("dtype", "device", "bool", "str") for q in parameters[i + 1:]):
            return i
    return None


def forms(parameters):
    """The lists of parameters that a call may have: as the schema has them, with a list of integers spelled out where that may
    be, and with numpy's names."""
    texts = [parameter(p) for p in parameters]
    yield texts
    i = spelled_out(parameters)
    if i is not None and all(p.default is inspect.Parameter.empty for p in parameters[:i]):
        yield [*texts[:i], f"*{parameters[i].name}: builtins.int", *texts[i + 1:]]
    numpys = {ours: alias for alias, ours in _thunder.aliases.items()}
    if any(p.name in numpys for p in parameters):
        yield [parameter(p, numpys.get(p.name)) for p in parameters]


def function(name, schema, flag, indent="", is_method=False):
    """The stub of an op, with each form of its calls; `flag` is that of a variant, which gives a tuple."""
    lines = []
    for texts in forms(schema.parameters):
        if getattr(_ops.functions[name], "creates", False):
            texts = [*texts, *["*"] * (not any(text.startswith("*") for text in texts)), "requires_grad: builtins.bool = False"]
        if is_method:
            texts[0] = "self"
        plain = [*texts, f"{flag}: Literal[False] = False"] if flag else texts
        lines.append(f"{indent}def {name}({', '.join(plain)}) -> {_schema.returned(schema)}: ...")
        if flag:
            starred = texts if any(text.startswith("*") for text in texts) else [*texts, "*"]
            lines.append(f"{indent}def {name}({', '.join(starred)}, {flag}: Literal[True]) -> tuple[Tensor, ...]: ...")
    if getattr(_ops.functions[name], "form", False):  # PyTorch's other ways of calling it
        lines.append(f"{indent}def {name}({'self, ' * is_method}*args: Any, **named: Any) -> {_schema.returned(schema)}: ...")
    if name == "where" and not is_method:
        lines.append("def where(condition: Tensor) -> tuple[Tensor, ...]: ...")
    overloaded = f"{indent}@overload\n" if len(lines) > 1 else ""
    return "\n".join(overloaded + line for line in lines)


def schemas():
    """(name, schema, flag of its variant or None, is a method) of every op that users call."""
    for row in _schema.describe("ops"):
        if row["hidden"] or row["prim"]:
            continue
        for name in [row["name"]] + ([row["name"] + "_"] if row["inplace"] else []):
            yield name, _schema.read(row), row.get("variant_flag"), name in _ops.methods


def options(rows):
    return [f"{row['name']}: {'Sequence[builtins.str] | ' if row['kind'] == 'str' else ''}{TYPES[row['kind']]}"
            f"{' | None' if row['default'] == 'None' else ''} = ..."
            for row in rows]


def compile_options():
    """Those of the registry, the objects that some of them take, and a dict of more."""
    texts = options(_schema.describe("options")) + ["passes: Sequence[Pass] | Pass = ...", "options: Mapping[builtins.str, Any] | None = ..."]
    objects = {"executors: ": "Sequence[Executor | builtins.str] | Executor | ",
               "backend: Sequence[builtins.str] | ": "Callable[[Node, list[Tensor]], Callable[..., Any]] | "}
    for name, more in objects.items():
        texts = [text.replace(name, name.partition(" ")[0] + " " + more) for text in texts]
    return texts


def layers():
    """nn: its own classes as they are, and one for each kind."""
    text = IMPORTS + MODULE
    for row in _schema.describe("modules"):
        if f"class {row['name']}(" not in MODULE:
            texts = ["self", *(parameter(p) for p in _schema.read(row).parameters)]
            text += f"class {row['name']}(Module):\n    def __init__({', '.join(texts)}) -> None: ...\n"
            text += "    @staticmethod\n    def generate_square_subsequent_mask(sz: builtins.int) -> Tensor: ...\n" * (row["name"] == "Transformer")
            text += "    @staticmethod\n    def convert_sync_batchnorm(module: Module, process_group: None = None) -> Module: ...\n" * (
                row["name"] == "SyncBatchNorm")
    return text


def optimisers():
    text = IMPORTS + OPTIMIZER
    for what, base, first in (("optimizers", "Optimizer", "params: _Parameters"), ("schedules", "Schedule", "optimizer: Optimizer")):
        for row in _schema.describe(what):
            if f"class {row['name']}(" in OPTIMIZER:
                continue
            texts = ["self", first, *options(row["options"])]
            text += f"class {row['name']}({base}):\n    def __init__({', '.join(texts)}) -> None: ...\n"
    return text


def return_types():
    """The named tuples of results, as ops give them."""
    text = "class return_types:\n"
    named = [(row["name"], row["result_names"]) for row in _schema.describe("ops") if "result_names" in row]
    for name, fields in sorted(named):
        text += f"    class {name}(NamedTuple):\n" + "".join(f"        {field}: Tensor\n" for field in fields)
    return text


def package():
    rows = [row for row in schemas() if row[0] not in SPELLED_OUT]
    methods = [function(name, schema, flag, "    ", True)
               for name, schema, flag, is_method in rows if is_method and name != "to"]
    names = [prefix + name for name in OPERATORS for prefix in ("", "r")] + COMPARISONS
    operators = [f"    def __{name}__(self, other: _TensorLike) -> Tensor: ...  # type: ignore[misc, override]" for name in names]
    dtypes = [name for name in dir(thunder) if isinstance(getattr(thunder, name), thunder.dtype)]
    text = TENSOR.replace("@CODES@", "\n".join(f"    {code.name} = {code.value}" for code in thunder.Code))
    text = text.replace("@OPERATORS@", "\n".join(operators)).replace("@METHODS@", "\n".join(methods))
    text = text.replace("@RETURN_TYPES@", return_types()).replace("@OPTIONS@", ", ".join(["*", *compile_options()]))
    text = text.replace("@DTYPES@", "\n".join(f"{name}: dtype" for name in dtypes))
    text = text.replace("@COMPILED@", COMPILED) + "".join(line + "\n" for line in FUNCTIONS.splitlines() if hasattr(thunder, line[4:line.index("(")]))
    return HEAD + text + "\n" + "\n".join(function(name, schema, flag) for name, schema, flag, _ in rows) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, text in (("__init__", package()), ("nn", layers()), ("optim", optimisers()), ("data", IMPORTS + DATA), ("func", IMPORTS + FUNC), ("parallel", PARALLEL)):
        (folder / f"{name}.pyi").write_text(text, encoding="utf-8")
    (folder / "py.typed").touch()


if __name__ == "__main__":
    main()
