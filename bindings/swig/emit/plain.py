"""What the emitters of C for Python and for Lua share: which members are no more than a call."""
CLASSES = ("", "Compiled", "Batches")


def is_plain(m, functions):
    """Whether it is a call of one function that records nothing, with arguments that each stand for one value."""
    return m.function in functions and not m.is_new and not m.is_op and not any(a.stars for a in m.arguments)


def plain(classes, functions, language):
    return [m for c in classes if c.name in CLASSES for m in c.of(language) if is_plain(m, functions)]


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
            found = next(a for a in given if a.kind == wanted or (not wanted and a.kind not in ("text", "real", "tensor")))
            given.remove(found)
            yield "argument", found, kind


NOTE = "/* Written by bindings/swig/generate.py from bindings/classes.api; tools/check --write refreshes it. */\n"
