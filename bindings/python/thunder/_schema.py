"""The registry's schemas, such as "sum(tensor input, int[]? dim=None) -> tensor", as the library describes them."""
import inspect
import json
from typing import NamedTuple

from . import _thunder

_ANNOTATIONS = {"tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str", "dtype": "dtype",
                "device": "device", "int[]": "Sequence[int]", "float[]": "Sequence[float]", "tensor[]": "Sequence[Tensor]"}


class Parameter(NamedTuple):
    name: str
    kind: str
    optional: bool
    default: object  # inspect.Parameter.empty: it must be given
    text: bool = False  # of a list: a string may stand for it


class Schema(NamedTuple):
    name: str
    parameters: tuple
    results: int  # 0: a list; -1: the arguments say how many, and one stands alone
    text: str
    names: tuple = ()  # of the results, where they have some


def read(row):
    """The schema of a described op or kind of module."""
    results = row["results"] or (0 if row["list"] else -1)
    return Schema(row["name"], tuple(_parameter(**p) for p in row["parameters"]), results, row["schema"],
                  tuple(row.get("result_names", ())))


def _parameter(name, kind, optional, has_default, default=None, text=False):
    if not has_default:
        default = inspect.Parameter.empty
    elif kind == "float" and default is not None:
        default = float(default)  # JSON does not tell 1 and 1.0 apart
    return Parameter(name, kind, optional, default, text)


def annotation(parameter):
    text = _ANNOTATIONS[parameter.kind]
    if parameter.kind == "tensor":
        text = "Tensor | float"
    if parameter.text:
        text += " | str"
    return text + " | None" if parameter.optional else text


def signature(schema):
    """For help(), editors and inspect.signature()."""
    parameters = [inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=p.default,
                                    annotation=annotation(p)) for p in schema.parameters]
    return inspect.Signature(parameters, return_annotation=returned(schema))


def returned(schema):
    if schema.results == 0:
        return "list[Tensor]"
    if schema.names:
        return ("Tensor | " if schema.results < 0 else "") + f"return_types.{schema.name}"
    if schema.results < 0:
        return "Tensor | tuple[Tensor, ...]"
    return "Tensor" if schema.results == 1 else f"tuple[{', '.join(['Tensor'] * schema.results)}]"


def describe(what):
    """The registry's rows of "ops", "modules", "optimizers" ..."""
    return json.loads(_thunder.describe(what))
