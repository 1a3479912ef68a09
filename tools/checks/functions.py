"""No function is longer than 80 lines, in core and capi than 60. C and C++ by braces, Python by its own parser."""
import ast
import re

from checks.sizes import is_generated

LIMIT, STRICT = 80, 60
# What must not be read as braces: comments, raw strings, strings, characters, preprocessor lines.
OPAQUE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:\\\n|[^\n])*""", re.DOTALL | re.MULTILINE)
# A head without parentheses that opens a namespace, a linkage block (its string is blanked) or a type.
SCOPE = re.compile(r"\s*(?:inline\s+)?namespace\b|\s*extern\s*$|"
                   r"(?:\s*template\s*<[^(]*>)?\s*(?:typedef\s+)?(?:class|struct|union|enum)\b[^(]*$")


def check(tree):
    for path in tree.files:
        if is_generated(tree, path):
            continue
        if path.endswith((".cpp", ".h", ".hpp", ".c", ".cu")):
            found = _c_functions(tree.read(path))
        elif path.endswith(".py") or tree.read(path).startswith("#!/usr/bin/env python3"):
            found = _python_functions(tree.read(path))
        else:
            continue
        limit = STRICT if path.startswith(("core/", "capi/")) else LIMIT
        for line, name, length in found:
            if length > limit:
                tree.fail(path, f"{name} is {length} lines long; {limit} is the limit", line)


def _python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def _c_functions(text):
    """A function is a brace after a parenthesis, at the level of a namespace or a type."""
    text = OPAQUE.sub(_blank, text)
    stack = []  # (kind, line, name) of each open brace
    head, line, parentheses = "", 1, 0
    head_line = 1
    for character in text:
        if character == "\n":
            line += 1
        if not head.strip():
            head_line = line
        if character in "()":
            parentheses += 1 if character == "(" else -1
        if character == "{":
            outer = not stack or stack[-1][0] == "scope"
            kind = "block"
            if outer and parentheses == 0:
                kind = "scope" if SCOPE.match(head) else "function" if "(" in head else "block"
            names = re.findall(r"([~\w]+)\s*\(", head)
            stack.append((kind, head_line, names[0] if names else "?", parentheses))
            head, parentheses = "", 0
        elif character == "}" and stack:
            kind, start, name, parentheses = stack.pop()
            if kind == "function":
                yield start, name, line - start + 1
            head = ""
        elif character == ";" and parentheses == 0:
            head = ""
        else:
            head += character
