"""PHP's classes: camel case, arguments by name, properties by __get, foreach."""
from .layer import camel, comment, indent, literal

LANGUAGE = "php"
TYPES = {"text": "string", "int": "int", "size": "int", "real": "float", "bool": "bool", "tensor": "Tensor", "map": "array", "tensors": "array", "any": "mixed",
         "self": "self", "": "void"}


def type_of(kind):
    return "array" if kind.startswith("[") else TYPES.get(kind, kind)


def parameter(a):
    return f"{type_of(a.kind)} {'...' if a.stars else ''}${a.name}" + (f" = {literal(a.default)}" if a.has_default else "")


def value(a):
    return f"${a.name}->core" if a.kind == "tensor" or a.kind[0].isupper() else f"${a.name}"


def perform(m, on="$this->core"):
    own = ([on] if m.of.name and not m.is_new else []) + [value(a) for a in m.own]
    star = [a for a in m.arguments if a.stars == 1]
    items = [f"...${a.name}" if a.stars else f"${a.name}" for a in m.items] + ([f"...${m.options.name}"] if m.options and not star else [])
    if len(items) == 1 and items[0].startswith("..."):
        items = items[0].removeprefix("...")
    elif len(items) == 1 and m.items[0].kind.startswith("["):
        items = f"array_values({items[0]})"
    else:
        items = f"[{', '.join(items)}]"
    words = [f"'{m.action}'"] + ([f"[{', '.join(own)}]"] if own or m.items or m.options else []) + ([items] if m.items or m.options else [])
    return f"Exchange::perform({', '.join(words)})"


def given(m):
    star = any(a.stars == 1 for a in m.arguments)  # which takes what has a name, too
    return ", ".join(parameter(a) for a in m.arguments if not (star and a.stars == 2))


def function(words, name, m, result=None):
    """One line where it fits."""
    result = ("array" if m.parts else type_of(m.result)) if result is None else result
    head = f"{words}function {name}({given(m)})" + (f": {result}" if result else "")
    call = f"Exchange::hold({m.wraps}::class, {perform(m)})" if m.wraps else perform(m)
    body = [f"{call};", "return $this;"] if m.result == "self" and result == "self" else [f"$this->core = {call};"] if m.is_new else \
        [f"{call};"] if result == "void" else [f"return {call};"]
    one = f"{head} {{ {' '.join(body)} }}"
    return comment("//", m.doc) + ([one] if len(one) <= 124 else [head, "{", *indent(body), "}"])


def member(m):
    name = m.names.get(LANGUAGE, m.name)
    name = name if name.startswith("__") else camel(name)
    if m.is_new:
        return function("public ", "__construct", m, "")
    if "index" in m.idioms:
        return function("public ", "__set" if m.result == "self" else "__get", m, "void" if m.result == "self" else None)
    if "each" in m.idioms:
        return comment("//", m.doc) + ["public function getIterator(): \\Generator", "{", f"    $pass = {perform(m.begins)};",
                                      f"    while ($made = {perform(m, '$pass')}) yield $made;", "}"]
    if "begins" in m.idioms:
        return []
    shown = ["public function __toString(): string { return $this->" + name + "(); }"] if "shown" in m.idioms else []
    return function("public " if m.of.name else "", name, m) + shown


def members(c):
    return [line for m in c.of(LANGUAGE) for line in member(m)]


def whole(c):
    loops = " implements \\IteratorAggregate, \\Countable" if c.idiom("each") else ""
    return [*comment("//", c.doc), f"final class {c.name}{loops}", "{", f"    public readonly \\Thunder_Core_{c.name} $core;", *indent(members(c)), "}"]
