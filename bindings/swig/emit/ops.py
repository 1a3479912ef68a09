"""How the ops look in each language that must know them before it runs; generate.py calls WRITERS[language](ops)."""


from .layer import camel, pascal

# ---- Java: for each op an overload for each argument with a default, as PyTorch's positions have it ----

JAVA_WORDS = {"default", "end", "boolean", "float", "int", "long", "double", "new", "this", "char", "byte"}
JAVA_TYPES = {"tensor": "Object", "int": "long", "float": "double", "bool": "boolean", "str": "String", "dtype": "String",
              "device": "String", "int[]": "long[]", "float[]": "double[]", "tensor[]": "Tensor[]"}
JAVA_OPTIONAL = {"int": "Number", "float": "Number", "bool": "Boolean"}


def java_name(p):
    return p.name + "_" if p.name in JAVA_WORDS else camel(p.name)


def java_type(p, is_last):
    if p.optional or p.has_default:
        return JAVA_OPTIONAL.get(p.kind) or java_list(p, is_last)
    return java_list(p, is_last)


def java_list(p, is_last):
    text = JAVA_TYPES["tensor" if p.text and not is_last else p.kind]
    return text.replace("[]", "...") if is_last and p.kind in ("int[]", "tensor[]") else text


def java_op(op, count, is_method):
    """The overload with the first `count` parameters."""
    parameters, required = op.parameters[:count], max(op.required, is_method)  # a method is called on the first one
    given = [f"{java_type(p, i == count - 1)} {java_name(p)}" for i, p in enumerate(parameters)]
    items = [java_name(p) for p in parameters[:required]]
    if is_method:
        given, items[0] = given[1:], "this"
    named = "".join(f', "{p.name}", {java_name(p)}' for p in parameters[required:])
    call = f'Exchange.op("{op.name}", new Object[] {{{", ".join(items)}}}{named})'
    returned, body = ("Tensor", f"(Tensor) {call}") if op.results == 1 else ("Tensor[]", f"Exchange.tensors({call})")
    doc = f"{op.schema}: {op.doc}".replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    static = "" if is_method else "static "
    return f"    /** {doc} */\n    public {static}{returned} {camel(op.name)}({', '.join(given)}) {{\n        return {body};\n    }}\n"


def java_class(head, rows, is_method):
    counts = [(op, count) for op in rows for count in range(max(op.required, is_method), len(op.parameters) + 1)]
    return head + "\n".join(java_op(op, count, is_method) for op, count in counts) + "}\n"


JAVA_HEAD = "package thunder;\n\n// Made from the registry with each build.\n"


def java_methods(rows):
    head = JAVA_HEAD + "\n/** The ops that take a tensor first, as its methods. */\nabstract class TensorOps {\n"
    return java_class(head, [op for op in rows if op.is_method], True)


def java_functions(rows):
    head = JAVA_HEAD + "\n/** Every op as a function; where a tensor is expected, a number will do. */\npublic final class Ops {\n"
    return java_class(head + "    private Ops() {}\n\n", rows, False)


# ---- C#: one method for each op, whose arguments with a default are optional and may be named ----

CSHARP_WORDS = {"default", "params", "base", "in", "out", "ref", "this", "new", "object", "string", "float", "double"}
CSHARP_TYPES = {"tensor": "object", "int": "long", "float": "double", "bool": "bool", "str": "string", "dtype": "string",
                "device": "string", "int[]": "Dims", "float[]": "double[]", "tensor[]": "Tensor[]"}


def csharp_parameter(p):
    name = "@" + p.name if p.name in CSHARP_WORDS else p.name
    nullable = "?" if p.kind in ("int", "float", "bool") and (p.optional or p.has_default) else ""
    return f"{CSHARP_TYPES[p.kind]}{nullable} {name}" + (" = null" if p.has_default else "")


def csharp_op(op, is_method):
    names = ["@" + p.name if p.name in CSHARP_WORDS else p.name for p in op.parameters]
    given = [csharp_parameter(p) for p in op.parameters]
    required = max(op.required, is_method)
    items = names[:required]
    if is_method:
        given, items[0] = given[1:], "this"
    named = "".join(f', "{p.name}", {name}' for p, name in zip(op.parameters[required:], names[required:]))
    call = f'Exchange.Op("{op.name}", new object[] {{ {", ".join(items)} }}{named})'
    returned, body = ("Tensor", f"(Tensor){call}") if op.results == 1 else ("Tensor[]", f"Exchange.Tensors({call})")
    doc = f"{op.schema}: {op.doc}".replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    static = "" if is_method else "static "
    return (f"        /// <summary>{doc}</summary>\n        public {static}{returned} {pascal(op.name)}({', '.join(given)})\n"
            f"        {{\n            return {body};\n        }}\n")


def csharp(rows):
    text = "// Made from the registry with each build.\nnamespace Thunder\n{\n    public sealed partial class Tensor\n    {\n"
    text += "\n".join(csharp_op(op, True) for op in rows if op.is_method)
    text += "    }\n\n    /// <summary>Every op as a function; where a tensor is expected, a number will do.</summary>\n"
    text += "    public static class Ops\n    {\n" + "\n".join(csharp_op(op, False) for op in rows)
    return text + "    }\n}\n"


# ---- Go: a method and a function for each op; what has a default follows by position or, in a Named, by name ----

GO_WORDS = {"type", "func", "range", "default", "map", "select", "string", "var"}
GO_TYPES = {"tensor": "any", "int": "int", "float": "float64", "bool": "bool", "str": "string", "dtype": "string",
            "device": "string", "int[]": "[]int", "float[]": "[]float64", "tensor[]": "[]*Tensor"}


def go_op(op, is_method):
    required = max(op.required, is_method)
    names = [p.name + "_" if p.name in GO_WORDS else p.name for p in op.parameters[:required]]
    given = [f"{name} {'any' if p.optional else GO_TYPES[p.kind]}" for p, name in zip(op.parameters, names)]
    rest = "rest" if len(op.parameters) > required else "nil"
    if rest == "rest":
        given.append("rest ...any")
    if is_method:
        given, names[0] = given[1:], "t"
    returned, wrap = ("*Tensor", "one") if op.results == 1 else ("[]*Tensor", "several")
    receiver = "(t *Tensor) " if is_method else ""
    call = ", ".join([f'"{op.name}"', rest, *names])
    return (f"// {pascal(op.name)}: {op.schema}: {op.doc}\nfunc {receiver}{pascal(op.name)}({', '.join(given)}) {returned} {{\n"
            f"\treturn {wrap}(op({call}))\n}}\n")


def go(rows):
    text = "// Made from the registry with each build.\n\npackage thunder\n\n"
    return text + "\n".join(go_op(op, is_method) for op in rows for is_method in {op.is_method, False})


WRITERS = {"java-methods": java_methods, "java-functions": java_functions, "csharp": csharp, "go": go}
