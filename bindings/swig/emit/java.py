"""Java's classes: camel case, an overload for each argument with a default, checked types of what comes back."""
import re

from .layer import camel, comment, indent, literal

LANGUAGE = "java"
TYPES = {"text": "String", "int": "long", "size": "int", "real": "double", "bool": "boolean", "tensor": "Tensor", "any": "Object", "map": "Map<String, Object>",
         "tensors": "Map<String, Object>", "[tensor]": "List<Tensor>", "[text]": "List<String>", "[real]": "List<Double>", "[map]": "List<Map<String, Object>>",
         "": "void"}
MADE = {"text": "(String) {}", "int": "(Long) {}", "size": "((Long) {}).intValue()", "real": "((Number) {}).doubleValue()", "bool": "(Boolean) {}",
        "tensor": "(Tensor) {}", "any": "{}", "[tensor]": "Exchange.tensors({})"}


def result_type(m):
    if m.parts:
        return m.result
    return m.of.name if m.result == "self" else "Tensor[]" if m.result == "[tensor]" else TYPES.get(m.result, m.result)


def made(m, call):
    if m.parts:
        return f"new {m.result}((List<?>) {call})"
    if m.wraps:
        return f"new {m.wraps}((thunder.core.{m.wraps}) {call})"
    return MADE.get(m.result, f"({TYPES.get(m.result)}) {{}}").format(call)


def parameter(a):
    kind = "Map<String, ?>" if a.kind in ("map", "tensors") else TYPES.get(a.kind, a.kind)
    return f"Object... {a.name}" if a.stars else f"{kind} {camel(a.name)}"


def arguments(m):
    """As Java has them: what is any number of values is last, and then there are no names."""
    star = any(a.stars == 1 for a in m.arguments)
    return [a for a in m.arguments if not (star and a.stars == 2)]


def perform(m, on="core"):
    own = ([on] if m.of.name and not m.is_new else []) + [camel(a.name) + (".core" if a.kind == "tensor" or a.kind[0].isupper() else "") for a in m.own]
    items = [camel(a.name) for a in m.items]
    star = any(a.stars for a in m.items)
    given = items[0] if star and len(items) == 1 else f"new Object[] {{{', '.join(items)}}}" if items else "Exchange.NOTHING"
    named = m.options.name if m.options and not star else "Exchange.NOTHING"
    return f"Exchange.perform({given}, {named}, call -> call.{m.action}({', '.join(own)}))"


def doc(m):
    text = m.doc.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    lines = comment(" *", text, 120)
    return [f"/** {text} */"] if len(lines) == 1 else ["/**", *lines, " */"]


def body(m):
    call = perform(m)
    lines = [f"core = (thunder.core.{m.of.name}) {call};"] if m.is_new else [f"{call};"] if m.result in ("", "self") else [f"return {made(m, call)};"]
    held = [camel(a.name) for a in m.own if a.kind == "Compiled"] + (["this"] if m.of.name == "Compiled" and m.items else [])
    if held:  # a trace needs the closure until the end
        lines = ["try {", *indent(lines), "} finally {", *(f"    Reference.reachabilityFence({name});" for name in held), "}"]
    if "keep" in m.idioms:
        lines.append(f"{m.words[0]}.put({m.arguments[0].name}, {m.arguments[-1].name});")
    return lines + (["return this;"] if m.result == "self" else [])


def head(m, given):
    words = "" if m.is_new else ("" if m.of.name else "static ") + result_type(m) + " "
    name = m.of.name if m.is_new else camel(m.names.get(LANGUAGE, m.name))
    return f"public {words}{name}({', '.join(parameter(a) for a in given)}) {{"


def overloads(m):
    """Those without the last arguments that have defaults."""
    given = arguments(m)
    while given and given[-1].has_default:
        *given, last = given
        names = [camel(a.name) for a in given] + [literal(last.default, quote='"')]
        target = "this" if m.is_new else camel(m.name)
        yield [head(m, given), f"    {'return ' if not m.is_new and m.result else ''}{target}({', '.join(names)});", "}"]


EACH = """@Override
public Iterator<Tensor[]> iterator() {
    final var pass = (thunder.core.NAME) BEGIN;
    return new Iterator<>() {
        private Tensor[] following;
        private boolean known; // read no sooner than asked for, so that state() is where the loop stands

        @Override
        public boolean hasNext() {
            if (!known) following = READ;
            known = true;
            return following.length > 0;
        }

        @Override
        public Tensor[] next() {
            if (!hasNext()) throw new NoSuchElementException();
            known = false;
            return following;
        }
    };
}"""


def parts(m):
    """The class of a result that is several."""
    fields = [f"public final {TYPES[kind]} {name};" for name, kind in m.parts]
    reads = [f"{name} = ({TYPES[kind]}) results.get({i});".replace("(Object) ", "") for i, (name, kind) in enumerate(m.parts)]
    return [*doc(m), f"public static final class {m.result} {{", *indent(fields), "", '    @SuppressWarnings("unchecked")',
            f"    {m.result}(List<?> results) {{", *indent(indent(reads)), "    }", "}", ""]


def member(m):
    if "begins" in m.idioms:
        return []
    if "each" in m.idioms:
        texts = {"NAME": m.of.name, "BEGIN": perform(m.begins), "READ": made(m, perform(m, "pass"))}
        return re.sub("NAME|BEGIN|READ", lambda found: texts[found[0]], EACH).splitlines()
    lines = (parts(m) if m.parts else []) + doc(m)
    for other in overloads(m):
        lines += other + [""]
    lines += ['@SuppressWarnings("unchecked")'] if "<" in result_type(m) else []
    shown = ["", "@Override", "public String toString() {", f"    return {camel(m.name)}();", "}"] if "shown" in m.idioms else []
    return [*lines, head(m, arguments(m)), *indent(body(m)), "}", *shown]


def members(c):
    made = []
    for lines in map(member, c.of(LANGUAGE)):
        made += ([""] if made and lines else []) + lines
    return made


IMPORTS = ["java.lang.ref.Reference", "java.util.HashMap", "java.util.Iterator", "java.util.List", "java.util.Map", "java.util.NoSuchElementException"]


def held(c):
    """The constructor around what the core made."""
    return [f"{c.name}(thunder.core.{c.name} made) {{", "    core = made;", "}", ""] if c.wrapped else []


def whole(c):
    loops = " implements Iterable<Tensor[]>" if c.idiom("each") else ""
    kept = [f"private final Map<String, {c.name}> {m.words[0]} = new HashMap<>();" for m in c.idiom("keep")]
    return ["package thunder;", "", *(f"import {name};" for name in IMPORTS), "", f"/** {c.doc} */", f"public final class {c.name}{loops} {{",
            *indent([f"final thunder.core.{c.name} core;", *kept, "", *held(c), *members(c)]), "}"]


def files(classes):
    return {f"{c.name}.java": "\n".join(whole(c)) + "\n" for c in classes}
