"""The description of the library's classes: bindings/classes.api, and the C functions of the headers that it names."""
import ast
import re
from dataclasses import dataclass, field

SWIG = ("ruby", "perl", "tcl", "php", "java", "csharp", "go", "r", "octave")
LANGUAGES = (*SWIG, "python", "lua")
HANDLES = {"Tensor": "thunder_tensor", "Function": "thunder_function", "Compiled": "thunder_compiled"}  # classes written by hand
TREES = {"any", "map", "tensors", "[tensor]", "[text]"}


@dataclass
class Argument:
    name: str
    kind: str = "any"
    default: object = None
    has_default: bool = False
    stars: int = 0
    by_name: bool = False

    @property
    def is_item(self):
        """Whether it goes with the call's values, and not as an argument of the action."""
        return bool(self.stars) or self.kind in TREES


@dataclass
class Member:
    name: str
    arguments: list
    result: str  # "": none
    parts: list  # of a result that is several: (name, type)
    function: str
    of: "Class"
    doc: str = ""
    constants: dict = field(default_factory=dict)
    idioms: set = field(default_factory=set)
    names: dict = field(default_factory=dict)
    languages: tuple = LANGUAGES
    words: list = field(default_factory=list)  # of an idiom

    @property
    def action(self):
        return f"{self.of.name.lower()}_{self.name}" if self.of.name else self.name

    @property
    def own(self):
        return [a for a in self.arguments if not a.is_item]

    @property
    def items(self):
        return [a for a in self.arguments if a.is_item and a.stars < 2]

    @property
    def options(self):
        return next((a for a in self.arguments if a.stars == 2), None)

    @property
    def is_new(self):
        return self.name == "new"

    @property
    def makes(self):
        """The class of the object that it gives to the language; ""."""
        return self.of.name if self.is_new else self.result if self.result[:1].isupper() and not self.parts else ""

    @property
    def wraps(self):
        """The class of the object of the language that it gives around a handle, where that is no constructor; ""."""
        return "" if self.is_new or "begins" in self.idioms else self.makes

    @property
    def begins(self):
        """What makes the object that a loop runs on."""
        return next(m for m in self.of.members if "begins" in m.idioms)

    @property
    def is_op(self):
        return "op" in self.idioms


@dataclass
class Class:
    name: str  # "" has the functions
    handle: str
    doc: str = ""
    members: list = field(default_factory=list)
    wrapped: bool = False  # whether some member gives an object of it

    def of(self, language):
        return [m for m in self.members if language in m.languages]

    def idiom(self, name):
        return [m for m in self.members if name in m.idioms]


def split(text):
    """At commas that are in no brackets."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append(text[last:i].strip())
            last = i + 1
    return [part for part in parts if part]


def read_argument(text, by_name):
    head, _, default = text.partition(" = ")
    name, _, kind = head.partition(":")
    stars = len(name) - len(name.lstrip("*"))
    made = Argument(name.lstrip("*").strip(), kind.strip() or "any", stars=stars, by_name=by_name)
    if default:
        made.default, made.has_default = ast.literal_eval({"true": "True", "false": "False"}.get(default, default)), True
    return made


MEMBER = re.compile(r"(\w+)\((.*?)\)(?: -> (\S.*?))? = ([\w. ]+)(?:\(([^)]*)\))?((?: \{.*?\})*)$")


def read_member(line, of):
    found = MEMBER.match(line)
    if not found:
        raise SystemExit(f"classes.api: cannot read '{line}'")
    name, arguments, result, function, constants, idioms = found.groups()
    several = re.match(r"(\w+)\((.*)\)$", result or "")
    member = Member(name, [], several[1] if several else result or "", [], function.strip(), of)
    if several:
        member.parts = [tuple(part.split(": ")) for part in split(several[2])]
    by_name = False
    for text in split(arguments):
        if text == "*":
            by_name = True
        else:
            member.arguments.append(read_argument(text, by_name))
    member.constants = dict(part.split("=") for part in split(constants or ""))
    for idiom in re.findall(r"\{(.*?)\}", idioms):
        words, colon, other = idiom.partition(": ")
        if colon:
            member.names.update({language: other for language in words.split()})
        elif words.startswith("not "):
            member.languages = tuple(each for each in LANGUAGES if each not in words.split()[1:])
        else:
            idiom, *member.words = words.split()
            member.idioms.add(idiom)
    return member


def read_classes(path):
    classes, last = [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text == "functions" or text.startswith("class "):
            name, _, handle = text.partition(" ")[2].partition(" = ")
            classes.append(last := Class(name, handle or HANDLES.get(name, "")))
        elif line.startswith("    "):
            last.doc += (" " if last.doc else "") + text
        else:
            classes[-1].members.append(last := read_member(text, classes[-1]))
    return classes


@dataclass
class Function:
    name: str
    result: str
    parameters: list  # (type, name)


def read_headers(paths):
    """The functions of the headers by name; without their qualifiers."""
    functions = {}
    for path in paths:
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        for result, name, parameters in re.findall(r"^(?:THUNDER_CHECK )?([\w ]+?[ *]+)(thunder_\w+)\(([^;]*?)\) THUNDER_NOEXCEPT;", text, flags=re.M):
            words = [re.match(r"(.*?[ *])(\w+)$", " ".join(p.split())) for p in split(parameters) if p != "void" and "(*" not in p]
            functions[name] = Function(name, " ".join(result.split()), [(w[1].strip(), w[2]) for w in words if w])
    return functions


def load(root):
    """(classes, functions)"""
    classes = read_classes(root / "bindings" / "classes.api")
    functions = read_headers([root / "include" / "thunder.h", *sorted((root / "include" / "thunder").glob("*.h"))])
    for each in classes:
        for member in each.members:
            for name in member.function.split(" . "):
                if name != "core" and name not in functions:
                    raise SystemExit(f"classes.api: {each.name}.{member.name}: there is no {name} in the headers")
            if member.function in functions and functions[member.function].parameters[0][0] == "thunder_scope *":
                member.idioms.add("op")
    made = {m.wraps for c in classes for m in c.members}
    for each in classes:
        each.wrapped = each.name in made
    return classes, functions
