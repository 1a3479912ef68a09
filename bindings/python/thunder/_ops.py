"""thunder.NAME and Tensor.NAME for every op of the registry, with what it says about itself."""
from . import _forms, _schema, _show, _thunder


def _make(row, name):
    schema = _schema.read(row)
    op = _thunder.Op(name, tuple(p.name for p in schema.parameters), tuple(p.kind for p in schema.parameters),
                     schema.results, _forms.results_type(row["name"], schema.names))
    stored = "The result is stored in the first argument.\n\n" if name != row["name"] else ""
    op.__name__ = op.__qualname__ = name
    op.__module__ = "thunder"
    op.schema = name + row["schema"].removeprefix(row["name"])
    op.__doc__ = f"{row['doc']}\n\n{stored}{op.schema}"
    op.__signature__ = _schema.signature(schema)
    return op, schema


def make_all():
    """(functions, methods): dicts of ops by name; those of a first argument that is a tensor are methods too."""
    functions, methods = {}, {}
    rows = [row for row in _schema.describe("ops") if not row["hidden"] and not row["prim"]]
    for row in rows:
        for name in [row["name"]] + ([row["name"] + "_"] if row["inplace"] else []):
            op, schema = _make(row, name)
            functions[name] = op
            if schema.parameters and schema.parameters[0].kind == "tensor":
                methods[name] = op
    _forms.adapt(rows, functions, methods)
    return functions, methods


_thunder.Op.__repr__, _thunder.Op._repr_html_ = _show.op_text, _show.op_html
functions, methods = make_all()
for _name, _op in methods.items():
    setattr(_thunder.Tensor, _name, _op)
