"""R's functions, and objects that are environments with functions of their own."""
from .layer import comment, indent, literal

LANGUAGE = "r"


def parameter(a):
    return "..." if a.stars else a.name + (f" = {literal(a.default, 'TRUE', 'FALSE', chr(34))}" if a.has_default else "")


def given(m):
    words = []
    for a in m.arguments:  # what has a name is among the dots, too
        words += [] if a.stars and "..." in words else [parameter(a)]
    return ", ".join(words)


def value(a):
    return f"th$core_of({a.name})" if a.kind == "tensor" or a.kind[0].isupper() else a.name


def perform(m, self):
    own = ([self] if m.of.name and not m.is_new else []) + [value(a) for a in m.own]
    star = any(a.stars == 1 for a in m.items)
    items = "list(...)" if star else m.items[0].name if m.items and m.items[0].kind.startswith("[") else f"list({', '.join(a.name for a in m.items)})" if m.items else ""
    if items and items == m.items[0].name:
        items = f"as.list({items})"
    words = [f'"{m.action}"'] + ([f"list({', '.join(own)})"] if own else [])
    words += [items if own else f"args = {items}"] if items else []
    words += ["named = list(...)"] if m.options and not star else []
    return f"th$perform({', '.join(words)})"


def body(m, self):
    call = perform(m, self)
    if m.wraps:
        return [f"th${m.wraps.lower()}_of({call})"]
    if m.result in ("", "self"):
        return [f"invisible({call})"] if m.result == "" else [call, f"invisible({'f' if m.of.name == 'Compiled' else 'self'})"]
    if m.result in ("[real]", "[text]"):
        return [f"unlist({call})"]
    return [f"made <- {call}", "if (length(made)) made"] if m.result == "[tensor]" else [call]


def function(name, words, lines):
    one = f"{name} <- function({words}) {lines[0]}"
    return [one] if len(lines) == 1 and len(one) <= 124 else [f"{name} <- function({words}) {{", *indent(lines, "  "), "}"]


def member(m):
    if "begins" in m.idioms:
        return []
    name = m.names.get(LANGUAGE, m.name)
    if not m.of.name:
        return comment("#", m.doc) + function("th$" + name, given(m), body(m, ""))
    if m.of.name == "Compiled":  # which is a function
        return comment("#", m.doc) + function("th$" + name, ", ".join(filter(None, ["f", given(m)])), body(m, "th$core_of(f)"))
    forced = [f"force({a.name}) # a trace needs the function until the end" for a in m.own if a.kind == "Compiled"]
    made = comment("#", m.doc) + function("self$" + name, given(m), forced + body(m, "self$core"))
    if "index" in m.idioms:
        word, = m.words
        made += [f'self$set_{word} <- function(value) self$set("{word}", value)'] if m.result == "self" else [f'self${word} <- function() self$get("{word}")']
    if "each" in m.idioms:
        made += ["self$each <- function(body) {", f"  pass <- th$hold({perform(m.begins, 'self$core')}, th$core$delete_{m.of.name})",
                 f"  while (length(made <- {perform(m, 'pass$core')})) do.call(body, made)", "}"]
    return made


def members(c):
    return [line for m in c.of(LANGUAGE) if not m.is_new for line in member(m)]


def whole(c):
    new = next(m for m in c.members if m.is_new)
    name, core = f"th${c.name.lower()}", perform(new, "")
    head = [f"{name} <- function({given(new)}) {name}_of({core})", f"{name}_of <- function(core) {{"] if c.wrapped else [f"{name} <- function({given(new)}) {{"]
    return [*comment("#", f"{c.doc} {new.doc}"), *head, f"  self <- th$hold({'core' if c.wrapped else core}, th$core$delete_{c.name})",
            *indent(members(c), "  "), "  self", "}"]
