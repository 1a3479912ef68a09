"""Ruby's classes: keyword arguments, [] and properties, each for loops."""
from .layer import comment, literal

LANGUAGE = "ruby"


def parameter(a):
    default = literal(a.default, quote='"')
    if a.by_name:
        return f"{a.name}: {default}"
    return "*" * a.stars + a.name + (f" = {default}" if a.has_default else "")


def value(a):
    return f"{a.name}.to_s" if a.kind == "text" else f"{a.name}.core" if a.kind[0].isupper() else a.name


def perform(m, on="@core"):
    own = ([] if m.is_new or not m.of.name else [on]) + [value(a) for a in m.own]
    items = ["*" * a.stars + a.name for a in m.items]
    words = [":" + m.action, *own]
    if items:
        words.append(f"args: [{', '.join(items)}]" if items != ["*" + m.items[0].name] else f"args: {m.items[0].name}")
    if m.options:  # an option that is nil is not given
        words.append(f"named: {m.options.name}" + ("" if any(a.stars == 1 for a in m.items) else ".compact"))
    return f"Exchange.perform({', '.join(words)})"


def method(m, name=None, before=()):
    name = name or m.names.get(LANGUAGE, m.name)
    given = ", ".join(parameter(a) for a in m.arguments)
    head = f"def {name}({given})" if given else f"def {name}"
    lines = comment("#", m.doc)
    if m.result == "self" or before or name.endswith("="):
        return [*lines, head, "  " + perform(m), *("  " + line for line in before), *(["  self"] if m.result == "self" and name != "[]=" else []), "end"]
    return [*lines, f"{head} = " + (f"Exchange.hold({m.wraps}, {perform(m)})" if m.wraps else perform(m))]


def member(m):
    if m.is_new:
        return [*comment("#", m.doc), f"def initialize({', '.join(parameter(a) for a in m.arguments)})", f"  @core = {perform(m)}", "end"]
    if "index" in m.idioms:
        word, = m.words
        if m.result != "self":
            return [*method(m, "[]"), f"def {word} = self[:{word}]"]
        return [*method(m, "[]="), f"def {word}=(value)", f"  self[:{word}] = value", "end"]
    if "each" in m.idioms:
        return [*comment("#", m.doc), "def each", "  return enum_for(:each) { size } unless block_given?", f"  pass = {perform(m.begins)}",
                f"  until (made = {perform(m, 'pass')}).empty?",
                "    yield(*made)", "  end", "  self", "end"]
    if "begins" in m.idioms:
        return []
    if "set" in m.idioms:
        return method(m, m.name.removeprefix("set_") + "=")
    if "keep" in m.idioms:
        word, = m.words
        kept = f"{word}[{m.arguments[0].name}.to_s] = {m.arguments[-1].name}"
        return [*method(m, before=[kept]), f"def {word} = @{word} ||= {{}}"]
    return method(m) + ([f"alias to_s {m.name}", f"alias inspect {m.name}"] if "shown" in m.idioms else [])


def members(c):
    head = ["attr_reader :core"] if c.name and any(m.is_new for m in c.members) else []
    head = (["include Enumerable"] if c.idiom("each") else []) + head
    return head + [line for m in c.of(LANGUAGE) for line in member(m)]


def whole(c):
    return [*comment("#", c.doc), f"class {c.name}", *("  " + line for line in members(c)), "end"]
