"""Octave's classes: one a file; what has a name is in a struct."""
from .layer import comment, indent, literal

LANGUAGE = "octave"
CLASSES = {"Compiled": "ThunderFunction"}


def given(m):
    return [("varargin" if a.stars == 1 else a.name) for a in m.arguments if not a.by_name and not (a.stars == 2 and any(o.stars == 1 for o in m.arguments))]


def value(a):
    name = "given." + a.name if a.by_name else a.name
    return name + ".core" if a.kind == "tensor" or a.kind[0].isupper() else name


def perform(m):
    own = (["self.core"] if m.of.name and not m.is_new else []) + [value(a) for a in m.own]
    star = any(a.stars == 1 for a in m.items)
    items = "varargin" if star else m.items[0].name if m.items and m.items[0].kind.startswith("[") else f"{{{', '.join(a.name for a in m.items)}}}"
    named = f", {m.options.name}" if m.options and not star else ""
    return f'Thunder.perform("{m.action}", {{{", ".join(own)}}}, {items}{named})'


def defaults(m, names):
    """The lines that give arguments that were left out their values."""
    lines = []
    for at, a in enumerate(given_arguments(m), names):
        if a.has_default:
            lines.append(f"if nargin < {at}, {a.name} = {literal(a.default, quote=chr(34))}; end")
        if a.stars == 2:
            lines.append(f"if nargin < {at}, {a.name} = struct(); end")
    by_name = [a for a in m.arguments if a.by_name]
    if by_name:
        pairs = ", ".join(f'"{a.name}", {literal(a.default, quote=chr(34))}' for a in by_name)
        lines += [f"if nargin < {names + len(given(m))}, options = struct(); end", f'given = Thunder.options("{m.of.name.lower() or m.name}", struct({pairs}), options);']
    return lines


def given_arguments(m):
    return [a for a in m.arguments if not a.by_name and a.stars != 1]


def function(m, name, static):
    call, words = perform(m), ([] if static else ["self"]) + given(m) + (["options"] if any(a.by_name for a in m.arguments) else [])
    out, lines = "", [f"{call};"]
    if m.is_new:
        out, lines = "self = ", [f"self.core = {call};"]
        if m.of.wrapped:  # around what the core made
            lines.insert(0, f"if ! ischar({given(m)[0]}), self.core = {given(m)[0]}; return; end")
    elif m.parts:
        out = f"[{', '.join(name for name, _ in m.parts)}] = "
        lines = [f"made = {call};"] + [f"{name} = made{{{i + 1}}};" for i, (name, _) in enumerate(m.parts)]
    elif m.wraps:
        out, lines = "made = ", [f"made = {CLASSES.get(m.wraps, 'Thunder' + m.wraps)}({call});"]
    elif m.result == "[real]":
        out, lines = "made = ", [f"made = cell2mat({call});"]
    elif m.result in ("int", "size"):
        out, lines = "made = ", [f"made = double({call});"]
    elif m.result not in ("", "self"):  # a handle is what it was
        out, lines = "made = ", [f"made = {call};"]
    lines = defaults(m, 1 if static or m.is_new else 2) + lines
    head = f"function {out}{name}({', '.join(words[1:] if m.is_new else words)})"
    one = f"{head}, {lines[0]} end"
    return comment("%", m.doc) + ([one] if len(lines) == 1 and len(one) <= 124 else [head, *indent(lines, "  "), "end"])


def member(m):
    name = m.names.get(LANGUAGE, m.name)
    if m.is_new:
        return function(m, "Thunder" + m.of.name, False)
    made = function(m, name, not m.of.name)
    if "index" in m.idioms:
        word, = m.words
        made += [f'function set_{word}(self, value), self.set("{word}", value); end'] if m.result == "self" else [f'function value = {word}(self), value = self.get("{word}"); end']
    if "shown" in m.idioms:
        made += [f'function disp(self), printf("%s\\n", self.{name}()); end']
    return made


def members(c):
    return [line for m in c.of(LANGUAGE) for line in member(m)]


def whole(c):
    return [*comment("%", c.doc), f"classdef Thunder{c.name} < handle", "  properties", "    core", "  end", "  methods", *indent(members(c)), "  end", "end"]


def files(classes):
    return {f"Thunder{c.name}.m": "\n".join(whole(c)) + "\n" for c in classes}
