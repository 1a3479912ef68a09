"""What the emitters share: names, comments, and the files of a language with their marks filled in.

A layer's files are written by hand but for marks, each alone in a comment: `@members NAME@` becomes the members of that class,
`@functions@` the functions, `@classes@` all classes that have no mark of their own.
"""
import re
import textwrap


def camel(name):
    """layer_norm -> layerNorm, log_softmax_ -> logSoftmax_: in place, as PyTorch writes it."""
    first, *words = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in words) + ("_" if name.endswith("_") else "")


def pascal(name):
    """layer_norm -> LayerNorm, relu_ -> ReluInPlace."""
    text = "".join(word.capitalize() for word in name.split("_"))
    return text + "InPlace" if name.endswith("_") else text


def literal(value, true="true", false="false", quote="'"):
    """A default, as most languages write it."""
    return true if value is True else false if value is False else f"{quote}{value}{quote}" if isinstance(value, str) else str(value)


def comment(leader, doc, width=124):
    return [leader + " " + line for line in textwrap.wrap(doc, width - len(leader))]


def indent(lines, by="    "):
    return [by + line if line else line for line in lines]


def blocks(parts, blank=False):
    """Lists of lines as one, a blank line between them if it is wanted."""
    made = []
    for part in parts:
        made += ([""] if blank and made else []) + part
    return made


MARK = re.compile(r"^([ \t]*)\S+ @(members|functions|classes)(?: (\w+))?@$", re.M)


def fill(texts, classes, emitter):
    """The files of a layer, name -> text, with their marks filled in."""
    by_name = {c.name: c for c in classes}
    marked = {name for text in texts.values() for _, kind, name in MARK.findall(text) if kind == "members"}

    def made(found):
        space, kind, name = found.groups()
        if kind == "classes":
            lines = blocks([emitter.whole(c) for c in classes if c.name and c.name not in marked], blank=True)
        else:
            lines = emitter.members(by_name[name or ""])
        return "\n".join(indent(lines, space))

    return {name: MARK.sub(made, text) for name, text in texts.items()}
