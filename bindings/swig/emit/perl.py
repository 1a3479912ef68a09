"""Perl's packages: options are a hash, lists are returned as lists."""
from .layer import comment, literal

LANGUAGE = "perl"


def value(a):
    if a.by_name or a.has_default:
        return f"{f'$options{{{a.name}}}' if a.by_name else '$' + a.name} // {literal(a.default, '1', '0')}"
    return f'"${a.name}"' if a.kind == "text" else f"${a.name}->{{core}}" if a.kind[0].isupper() else f"${a.name}"


def perform(m):
    own = ([] if m.is_new or not m.of.name else ["$self->{core}"]) + [value(a) for a in m.own]
    star = [a for a in m.items if a.stars]
    items = f"\\@{star[0].name}" if star and len(m.items) == 1 else f"[{', '.join('@' * a.stars + ('' if a.stars else '$') + a.name for a in m.items)}]"
    words = [f"'{m.action}'", f"[{', '.join(own)}]"]
    if m.items or m.options:
        words.append(items)
    if m.options:
        words.append(f"${m.options.name}" if star else f"\\%{m.options.name}")
    return f"Thunder::_perform({', '.join(words)})"


def given(m, first):
    """The lines that take the arguments."""
    by_name = any(a.by_name for a in m.arguments)
    star = any(a.stars == 1 for a in m.arguments)
    words = first + [("@" if a.stars == 1 else "%" if a.stars else "$") + a.name for a in m.arguments if not a.by_name and not (star and a.stars == 2)]
    words += ["%options"] if by_name else []
    lines = [f"my ({', '.join(words)}) = @_;"] if words else []
    if star and m.options:
        items = next(a.name for a in m.arguments if a.stars == 1)
        lines.append(f"my ${m.options.name} = ref ${items}[-1] eq 'HASH' ? pop @{items} : undef;")
    return lines


def body(m):
    call = perform(m)
    if m.of.name and m.result in ("self", ""):
        return [call + ";", "$self"]
    if m.wraps:
        return [f"bless {{ core => scalar {call} }}, 'Thunder::{m.wraps}'"]
    if m.result in ("[real]", "[tensor]", "[text]"):
        return [f"@{{ scalar {call} }}"]
    return [call if m.parts or m.result == "" or m.name == "call" else "scalar " + call]


def sub(name, lines):
    one = f"sub {name} {{ {' '.join(lines)} }}"
    return [one] if len(one) <= 124 else [f"sub {name} {{", *("    " + line for line in lines), "}"]


def member(m):
    name = m.names.get(LANGUAGE, m.name)
    if m.is_new:
        return comment("#", m.doc) + sub("new", given(m, ["$class"]) + [f"return bless {{ core => scalar {perform(m)} }}, $class;"])
    lines = given(m, ["$self"] if m.of.name else []) + body(m)
    if "keep" in m.idioms:
        lines.insert(-1, f"$self->{{{m.words[0]}}}{{${m.arguments[0].name}}} = ${m.arguments[-1].name};")
    made = comment("#", m.doc) + sub(name, lines)
    if "index" in m.idioms and m.result == "self":
        word, = m.words
        made += [f"sub {word} {{ my ($self, @value) = @_; @value ? $self->set('{word}', @value) : $self->get('{word}') }}"]
    return made


def members(c):
    return [line for m in c.of(LANGUAGE) for line in member(m)]


def whole(c):
    call = ["use overload '&{}' => sub { my $self = shift; sub { $self->call(@_) } }, fallback => 1;"] if any(m.name == "call" for m in c.members) else []
    call += [f"use overload '\"\"' => sub {{ $_[0]->{m.name} }}, fallback => 1;" for m in c.idiom("shown")]
    return [f"package Thunder::{c.name};", *comment("#", c.doc), *call, *members(c)]
