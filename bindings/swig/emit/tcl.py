"""Tcl's classes: what has a name follows as an option, -name value."""
from .layer import comment, indent, literal

LANGUAGE = "tcl"


def default(a):
    return literal(a.default, "1", "0", "") or "{}"


def value(a):
    if a.by_name:
        return f"[dict get $o -{a.name}]"
    return f"[${a.name} core]" if a.kind == "tensor" or a.kind[0].isupper() else f"${a.name}"


def item(a):
    return f"[dict values ${a.name}]" if a.kind == "tensors" else f"${a.name}"


def perform(m, on="$core"):
    own = ([on] if m.of.name and not m.is_new else []) + [value(a) for a in m.own]
    words = [m.action, f"[list {' '.join(own)}]" if own else "{}"]
    star = any(a.stars == 1 for a in m.items)
    if star and m.options:
        words.append("{*}[::thunder::split_options $args]")
    elif star:
        words.append("$args")
    elif m.items and not (len(m.items) == 1 and m.items[0].kind.startswith("[")):
        words.append(f"[list {' '.join(item(a) for a in m.items)}]")
    elif m.items:
        words.append(f"${m.items[0].name}")
    elif m.options:
        words.append("{}")
    if m.options and not star:
        words.append("[lindex [::thunder::split_options $args] 1]")
    return f"::thunder::perform {' '.join(words)}"


def given(m):
    words = [f"{{{a.name} {default(a)}}}" if a.has_default and not any(o.stars for o in m.arguments) else a.name for a in m.arguments if not a.stars and not a.by_name]
    rest = any(a.stars or a.by_name for a in m.arguments)
    return "{" + " ".join(words + (["args"] if rest else [])) + "}"


def named_defaults(m):
    by_name = " ".join(f"-{a.name} {default(a)}" for a in m.arguments if a.by_name)
    return [f"set o [dict merge {{{by_name}}} $args]"] if by_name else []


def method(word, m, lines):
    one = f"{word} {given(m)} {{ {'; '.join(lines)} }}"
    return [one] if len(lines) == 1 and len(one) <= 124 else [f"{word} {given(m)} {{", *indent(lines), "}"]


EACH = """method each {{names script}} {{
    set pass [{begin}]
    set more 1
    try {{
        while {{$more}} {{
            ::thunder::scope {{
                set made [{read}]
                set more [llength $made]
                if {{$more}} {{
                    uplevel 1 [list lassign $made {{*}}$names]
                    uplevel 1 $script
                }}
                set nothing ""
            }}
        }}
    }} finally {{
        ::thunder::core::delete_{name} $pass
    }}
}}"""


def member(m):
    if "begins" in m.idioms:
        return []
    if m.is_new:
        return comment("#", m.doc) + method("constructor", m, named_defaults(m) + [f"set core [{perform(m)}]"])
    lines = named_defaults(m) + [f"::thunder::hold {m.wraps} [{perform(m)}]" if m.wraps else perform(m)] + (["return [self]"] if m.result == "self" else [])
    if not m.of.name:
        return comment("#", m.doc) + method(f"proc thunder::{m.name}", m, lines)
    made = comment("#", m.doc) + method(f"method {m.names.get(LANGUAGE, m.name)}", m, lines)
    if "each" in m.idioms:
        made += ["# What the script makes goes with each of them."] + EACH.format(name=m.of.name, begin=perform(m.begins), read=perform(m, "$pass")).splitlines()
    return made


def members(c):
    return [line for m in c.of(LANGUAGE) for line in member(m)]


def whole(c):
    return [*comment("#", c.doc), f"oo::class create thunder::{c.name} {{", "    variable core",
            f"    destructor {{ if {{[info exists core]}} {{ ::thunder::core::delete_{c.name} $core }} }}", "    method core {} { return $core }",
            *indent(members(c)), "}"]
