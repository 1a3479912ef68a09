"""C#'s classes: Pascal case, optional arguments, properties, an indexer, foreach."""
from .layer import camel, comment, indent, literal, pascal

LANGUAGE = "csharp"
TYPES = {"text": "string", "int": "long", "size": "int", "real": "double", "bool": "bool", "tensor": "Tensor", "any": "object", "map": "Dictionary<string, object>",
         "tensors": "Dictionary<string, object>", "[tensor]": "Tensor[]", "[text]": "string[]", "[real]": "double[]", "[map]": "List<object>", "": "void"}
MADE = {"any": "{}", "size": "(int)(long){}", "real": "Convert.ToDouble({})", "[tensor]": "Exchange.Tensors({})",
        "[real]": "((List<object>){}).ConvertAll(each => Convert.ToDouble(each)).ToArray()", "[text]": "((List<object>){}).ConvertAll(each => (string)each).ToArray()"}


def result_type(m):
    return TYPES[m.parts[0][1]] if m.parts else m.of.name if m.result == "self" else TYPES.get(m.result, m.result)


def arguments(m):
    star = any(a.stars == 1 for a in m.arguments)
    return [a for a in m.arguments if not (star and a.stars == 2)]


def parameter(a, is_last_default):
    if a.stars:
        return f"params object[] {a.name}"
    kind = "IDictionary" if a.kind in ("map", "tensors") else TYPES.get(a.kind, a.kind)
    return f"{kind} {camel(a.name)}" + (" = " + literal(a.default, quote='"') if a.has_default and is_last_default else "")


def given(m):
    star = any(a.stars for a in m.arguments)
    return ", ".join(parameter(a, not star) for a in arguments(m))


def perform(m, value=None, on="Core"):
    own = ([on] if m.of.name and not m.is_new else []) + [(value or camel(a.name)) + (".Core" if a.kind == "tensor" or a.kind[0].isupper() else "") for a in m.own]
    items = [camel(a.name) for a in m.items]
    star = any(a.stars for a in m.items)
    values = items[0] if star and len(items) == 1 else f"new object[] {{ {', '.join(items)} }}" if items else "Exchange.Nothing"
    named = m.options.name if m.options and not star else "Exchange.Nothing"
    return f"Exchange.Perform({values}, {named}, call => call.{m.action}({', '.join(own)}))"


def made(m, call):
    if m.wraps:
        return f"new {m.wraps}((Core.{m.wraps}){call})"
    return MADE.get(m.result, f"({TYPES.get(m.result)}){{}}").format(call)


def doc(m):
    text = m.doc.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return comment("///", f"<summary>{text}</summary>", 120)


def block(head, lines):
    one = f"{head} {{ {' '.join(lines)} }}"
    return [one] if len(lines) == 1 and len(one) <= 120 else [head, "{", *indent(lines), "}"]


def body(m):
    call = perform(m)
    held = [camel(a.name) for a in m.own if a.kind == "Compiled"] + (["this"] if m.of.name == "Compiled" and m.items else [])
    alive = [f"GC.KeepAlive({name}); // a trace needs the delegate until the end" for name in held]
    if m.is_new:
        return [f"Core = (Core.{m.of.name}){call};"]
    if m.result in ("", "self"):
        kept = [f"{m.words[0]}[{m.arguments[0].name}] = {m.arguments[-1].name};"] if "keep" in m.idioms else []
        return [f"{call};", *alive, *kept, *(["return this;"] if m.result == "self" else [])]
    return [f"var made = {made(m, call)};", *alive, "return made;"] if alive else [f"return {made(m, call)};"]


def several(m):
    """Of a result that is several, the first one; the others are `out` arguments, or are left out."""
    name, (_, first), (second, kind) = pascal(m.names.get(LANGUAGE, m.name)), *m.parts
    words = f"public static {result_type(m)} {name}("
    lines = doc(m) + [f"{words}{', '.join(filter(None, [given(m), f'out {TYPES[kind]} {second}']))})", "{",
                      f"    var made = (List<object>){perform(m)};", f"    {second} = ({TYPES[kind]})made[1];", f"    return {MADE.get(first, f'({TYPES[first]}){{}}').format('made[0]')};", "}"]
    names = ", ".join([camel(a.name) for a in m.arguments] + ["out other"])
    return [*lines, "", f"{words}{given(m)})", "{", f"    {TYPES[kind]} other;", f"    return {name}({names});", "}"]


EACH = """public IEnumerator<Tensor[]> GetEnumerator()
{
    var pass = (Core.NAME)BEGIN;
    for (var made = Next(pass); made.Length > 0; made = Next(pass)) yield return made;
}

IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }"""


def member(m):
    name = pascal(m.names.get(LANGUAGE, m.name))
    setter = next((o for o in m.of.members if o.name == "set_" + m.name or (o.name == "set" and m.name == "get")), None)
    if m.parts:
        return several(m)
    if m.is_new:
        return doc(m) + block(f"public {m.of.name}({given(m)})", body(m))
    if "set" in m.idioms or ("index" in m.idioms and m.result == "self"):
        return []
    if "index" in m.idioms or "get" in m.idioms:
        head = f"public {result_type(m)} " + (f"this[{given(m)}]" if "index" in m.idioms else name)
        lines = [f"get {{ {' '.join(body(m))} }}"] + ([f"set {{ {perform(setter) if 'index' in m.idioms else perform(setter, 'value')}; }}"] if setter else [])
        words = [line for word in m.words for line in ("", *block(f"public {result_type(m)} {pascal(word)}", [f'get {{ return this["{word}"]; }}', f'set {{ this["{word}"] = value; }}']))]
        return doc(m) + block(head, lines) + words
    if "each" in m.idioms:
        loop = EACH.replace("NAME", m.of.name).replace("BEGIN", perform(m.begins)).splitlines()
        return [*block(f"private static {result_type(m)} {name}(Core.{m.of.name} pass)", [f"return {made(m, perform(m, on='pass'))};"]), "", *loop]
    if "begins" in m.idioms:
        return []
    shown = ["", *block("public override string ToString()", [f"return {name}();"])] if "shown" in m.idioms else []
    return doc(m) + block(f"public {'' if m.of.name else 'static '}{result_type(m)} {name}({given(m)})", body(m)) + shown


def members(c):
    made = []
    for lines in map(member, c.of(LANGUAGE)):
        made += ([""] if made and lines else []) + lines
    return made


def held(c):
    """The constructor around what the core made."""
    return [f"internal {c.name}(Core.{c.name} made) {{ Core = made; }}", ""] if c.wrapped else []


def whole(c):
    loops = " : IEnumerable<Tensor[]>" if c.idiom("each") else ""
    kept = [f"private readonly Dictionary<string, {c.name}> {m.words[0]} = new Dictionary<string, {c.name}>();" for m in c.idiom("keep")]
    return [f"/// <summary>{c.doc}</summary>", f"public sealed class {c.name}{loops}", "{",
            *indent([f"internal readonly Core.{c.name} Core;", *kept, "", *held(c), *members(c)]), "}"]
