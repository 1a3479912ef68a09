"""The registry's schemas, such as "sum(tensor input, int[]? dim=None) -> tensor"."""
import ast
import inspect
import json
import re
from typing import NamedTuple

from . import _thunder

_ANNOTATIONS = {"tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str", "dtype": "dtype",
                "device": "device", "int[]": "Sequence[int]", "float[]": "Sequence[float]", "tensor[]": "Sequence[Tensor]"}


class Parameter(NamedTuple):
    name: str
    kind: str
    optional: bool
    default: object  # inspect.Parameter.empty: it must be given


class Schema(NamedTuple):
    name: str
    parameters: tuple
    results: int  # 0: the arguments say how many
    text: str


def _split(text):
    """The parts between commas that no bracket and no quote encloses."""
    return [part.strip() for part in re.findall(r"(?:[^,\['(]|\[[^\]]*\]|\([^)]*\)|'[^']*')+", text)]


def _default(text):
    words = {"None": None, "True": True, "False": False}
    return words[text] if text in words else ast.literal_eval(text)


def read(text):
    name, inside, returned = re.fullmatch(r"([\w.]+)\((.*)\) -> (.+)", text).groups()
    parameters = []
    for part in _split(inside):
        kind, optional, parameter, default = re.fullmatch(r"([a-z]+(?:\[\])?)(\??) (\w+)(?:=(.+))?", part).groups()
        value = inspect.Parameter.empty if default is None else _default(default)
        parameters.append(Parameter(parameter, kind, bool(optional), value))
    results = 0 if returned == "tensor[]" else len(_split(returned.strip("()")))
    return Schema(name, tuple(parameters), results, text)


def annotation(parameter):
    text = _ANNOTATIONS[parameter.kind]
    if parameter.kind == "tensor":
        text = "Tensor | float"
    return text + " | None" if parameter.optional else text


def signature(schema):
    """For help(), editors and inspect.signature()."""
    parameters = [inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=p.default,
                                    annotation=annotation(p)) for p in schema.parameters]
    return inspect.Signature(parameters, return_annotation=returned(schema))


def returned(schema):
    if schema.results == 0:
        return "list[Tensor]"
    return "Tensor" if schema.results == 1 else f"tuple[{', '.join(['Tensor'] * schema.results)}]"


def describe(what):
    """The registry's rows of "ops", "modules", "optimizers" ..."""
    return json.loads(_thunder.describe(what))
