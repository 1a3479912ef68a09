"""Go's types: Pascal case, errors as results. What runs in a scope panics as ops do, and so does what only reads."""
from .layer import camel, comment, indent, literal, pascal

LANGUAGE = "go"
WORDS = {"map", "type", "func", "range"}
TYPES = {"text": "string", "int": "int64", "size": "int", "real": "float64", "bool": "bool", "tensor": "*Tensor", "any": "any", "map": "map[string]any",
         "tensors": "map[string]any", "[tensor]": "[]*Tensor", "[text]": "[]string", "[real]": "[]float64", "[map]": "[]any"}
LISTS = {"[tensor]": "*Tensor", "[text]": "string", "[real]": "float64"}


def name_of(a):
    return a.name + "_" if a.name in WORDS else camel(a.name)


def panics(m):
    return m.is_op or (m.of.name and not m.arguments and m.result not in ("tensor", "[tensor]", "self", ""))


def may_be_left_out(a):
    return a.has_default and a.kind in ("bool", "text") and a.name != "kind"


def parameter(a):
    if a.stars:
        return f"{a.name} ...{'Named' if a.stars == 2 else 'any'}"
    kind = f"*{a.kind}" if a.kind[0].isupper() else "any" if a.kind == "map" else TYPES[a.kind]
    return f"{name_of(a)} {'...' if may_be_left_out(a) else ''}{kind}"


def value(a):
    name = name_of(a)
    if may_be_left_out(a):
        return f"given({name}, {literal(a.default, quote=chr(34))})"
    if a.kind == "size":
        return f"int64({name})"
    return f"{name}.core" if a.kind == "tensor" or a.kind[0].isupper() else name


def arguments(m):
    star = any(a.stars == 1 for a in m.arguments)
    return [a for a in m.arguments if not (star and a.stars == 2)]


def perform(m):
    own = (["self.core"] if m.of.name and not m.is_new else []) + [value(a) for a in m.own]
    items = [name_of(a) for a in m.items]
    star = any(a.stars for a in m.items)
    given = items[0] if star and len(items) == 1 else f"[]any{{{', '.join(items)}}}" if items else "nil"
    named = ("named" if star else m.options.name) if m.options else "nil"
    return f"perform({given}, {named}, func(call core.Call) any {{ return call.{pascal_action(m.action)}({', '.join(own)}) }})"


def pascal_action(name):
    """As SWIG writes it."""
    return name[0].upper() + name[1:]


def alive(m):
    names = (["self"] if m.of.name and not m.is_new else []) + [name_of(a) for a in m.own if a.kind == "tensor" or a.kind[0].isupper()]
    split = ["arguments, named := splitNamed(arguments)"] if m.options and any(a.stars == 1 for a in m.arguments) else []
    return split + [f"defer runtime.KeepAlive({name})" for name in names]


def one(kind, text):
    """A value of `any` as its type."""
    if kind in LISTS:
        return f"list[{LISTS[kind]}]({text})"
    return text if kind == "any" else f"int({text}.(int64))" if kind == "size" else f"{text}.({TYPES.get(kind, kind)})"


def held(m):
    """The lines that give an object around what the core made."""
    return [f"made, err := as[core.{m.makes}]({perform(m)})", "if err != nil {", "\treturn nil, err", "}", f"held := &{m.makes}{{core: made}}",
            f"runtime.SetFinalizer(held, func(held *{m.makes}) {{ core.Delete{m.makes}(held.core) }})", "return held, nil"]


def body(m):
    call = perform(m)
    if m.wraps:
        return f"(*{m.wraps}, error)", held(m)
    kinds = [kind for _, kind in m.parts]
    if panics(m):
        if m.result in ("", "self"):
            return "", [f"must({call})"]
        if kinds:
            return f"({', '.join(TYPES[k] for k in kinds)})", [f"made := must({call}).([]any)", f"return {', '.join(one(k, f'made[{i}]') for i, k in enumerate(kinds))}"]
        return TYPES[m.result], [f"return {one(m.result, f'must({call})')}"]
    if m.result in ("", "self"):
        return "error", [f"_, err := {call}", "return err"]
    if kinds:
        lines = [f"made, err := as[[]any]({call})", "if err != nil {", f"\treturn {'nil, ' * len(kinds)}err", "}"]
        return f"({', '.join(TYPES[k] for k in kinds)}, error)", lines + [f"return {', '.join(one(k, f'made[{i}]') for i, k in enumerate(kinds))}, nil"]
    helper = f"asList[{LISTS[m.result]}]" if m.result in LISTS else f"as[{TYPES[m.result]}]"
    return f"({TYPES[m.result]}, error)", [f"return {helper}({call})"]


def member(m):
    given = ", ".join(parameter(a) for a in arguments(m))
    if m.is_new:
        return [*comment("//", f"New{m.of.name}: {m.doc}"), f"func New{m.of.name}({given}) (*{m.of.name}, error) {{", *indent(alive(m) + held(m), "\t"), "}"]
    name, (result, lines) = pascal(m.names.get(LANGUAGE, m.name)), body(m)
    receiver = f"(self *{m.of.name}) " if m.of.name else ""
    shown = ["", "// String: as fmt prints it.", f"func {receiver}String() string {{", f"\treturn self.{name}()", "}"] if "shown" in m.idioms else []
    return [*comment("//", f"{name}: {m.doc}"), f"func {receiver}{name}({given}) {result + ' ' if result else ''}{{", *indent(alive(m) + lines, "\t"), "}", *shown]


def members(c):
    made = []
    for m in c.of(LANGUAGE):
        made += ([""] if made else []) + member(m)
    return made


def whole(c):
    return [*comment("//", f"{c.name}: {c.doc}"), f"type {c.name} struct{{ core core.{c.name} }}", "", *members(c)]
