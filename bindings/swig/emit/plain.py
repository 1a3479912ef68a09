"""What the emitters of C for Python and for Lua share: which members are no more than a call."""
import re

from .description import Argument, Class, Member

CLASSES = ("", "Compiled", "Batches")
CALL = re.compile(r"(\w+) = (\w+)(?:\((.*?)\))?$")
KINDS = {"char *": "string", "double": "real", "thunder_tensor *": "tensor", "thunder_device": "device", "thunder_dtype": "dtype",
         "thunder_options *": "options"}


def is_plain(m, functions):
    """Whether it is a call of one function that records nothing, with arguments that each stand for one value."""
    return m.function in functions and not m.is_new and not m.is_op and not any(a.stars for a in m.arguments)


def plain(classes, functions, language):
    return [m for c in classes if c.name in CLASSES for m in c.of(language) if is_plain(m, functions)]


def calls(text, functions):
    """The members that a file calls.api lists, whose arguments and results are those of the header."""
    of = Class("", "")
    for line in text.splitlines():
        if line.startswith("class "):
            of = Class(*line.removeprefix("class ").split(" = "))
        if not CALL.match(line):
            continue
        name, function, kinds = CALL.match(line).groups()
        given = dict(part.split(": ") for part in (kinds or "").split(", ") if part)
        made = Member(name, [], "", [], function, of)
        for kind, parameter in functions[function].parameters:
            base = kind.removeprefix("const ")
            if base not in ("thunder_context *", "thunder_values *", "double *", of.handle + " *") and not base.endswith("**"):
                made.arguments.append(Argument(parameter, given.get(parameter, KINDS.get(base, "handle" if base.endswith(" *") else "int"))))
        yield made


def roles(m, function):
    """For each parameter of the C function (what it is, the argument or None, its type)."""
    given, receiver = list(m.arguments), m.of.handle
    for kind, name in function.parameters:
        base = kind.removeprefix("const ")
        if base == "thunder_context *":
            yield "context", None, kind
        elif receiver and base == receiver + " *":
            receiver = ""
            yield "self", None, kind
        elif base == "thunder_values *" and name.startswith("out"):
            yield "values", None, kind
        elif base.endswith("**") or base == "double *":
            yield "out", None, kind
        else:
            wanted = {"const char *": "text", "double": "real", "thunder_tensor *": "tensor"}.get(kind)
            found = next((a for a in given if a.name == name), None) or next(
                a for a in given if a.kind == wanted or (not wanted and a.kind not in ("text", "real", "tensor")))
            given.remove(found)
            yield "argument", found, kind


def note(of="classes.api"):
    return f'/* Written by bindings/swig/generate.py from bindings/{of}; tools/check --write refreshes it. */\n'
