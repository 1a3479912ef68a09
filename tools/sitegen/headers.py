"""The C functions of the headers, a page for each header: what its comments say, and who owns, which threads may call, what fails."""
import re

SECTION = re.compile(r"^/\* ==== (.*?) ==== \*/$", re.S)
TOKEN = re.compile(r"/\*.*?\*/|(?:THUNDER_CHECK )?[A-Za-z_][\w ]*?[ *]+(thunder_\w+)\([^;{}]*?\) THUNDER_NOEXCEPT;", re.S)
THREADS = {"S": "any thread at any time", "X": "one thread at a time", "O": "only the thread that owns the scope, which is checked"}


def files(top):
    """thunder.h and its parts; ops.h has a function for each op, which the pages of ops have."""
    return [top / "include" / "thunder.h"] + sorted(p for p in (top / "include" / "thunder").glob("*.h") if p.name not in ("ops.h", "plugin.h"))


def functions(text):
    """[name, declaration, comment, threads] in order. A comment is of the declarations below it up to an empty line, or of the one on its line."""
    found, label, comment, end, last = [], "", "", 0, None
    for token in TOKEN.finditer(text):
        between = text[end:token.start()]
        end = token.end()
        if token[1]:
            if "\n\n" in between or between.strip():
                comment = ""
            threads = re.search(r"\[([SXO])[:\]]", comment) or re.search(r"\[([SXO])[: \]]", label)
            last = [token[1], re.sub(r" THUNDER_NOEXCEPT|THUNDER_CHECK ", "", token[0]), clean(comment), threads[1] if threads else ""]
            found.append(last)
        elif section := SECTION.match(token[0]):
            label, comment, last = section[1], "", None
        elif last and "\n" not in between and not between.strip():
            last[2] = f"{last[2]}\n{clean(token[0])}".strip()
        else:
            comment, last = token[0], None
    return found


def clean(comment):
    """A comment's text as Markdown, in which stars and angles stand for themselves."""
    text = re.sub(r"^/\*+ ?| ?\*/$", "", comment)
    text = re.sub(r"\n *\* ?", "\n", text)
    return re.sub(r"([*<_])", r"\\\1", text)


def ownership(declaration):
    arguments = declaration[declaration.index("(") + 1:]
    returned = declaration[:declaration.index("(")]
    says = []
    for kind, name in re.findall(r"(thunder_\w+) \*\*(\w+)", arguments):
        says.append(f"`{name}` is the caller's, who releases it by `{kind}_release`")
    if re.search(r"thunder_status \*", returned):
        says.append("the status is the caller's")
    elif "_retain" in returned:
        says.append("the handle that is returned counts once more")
    elif "thunder_scope *" in arguments and "*" in returned:
        says.append("what is returned belongs to the scope")
    elif "*" in returned:
        says.append("what is returned is borrowed from the first argument")
    return "; ".join(says) or "nothing is handed over"


def errors(declaration):
    if re.match(r"thunder_status \*", declaration):
        return "the status; `NULL` is success"
    return "a scope keeps the first one" if "thunder_scope *" in declaration else "none"


def pages(top):
    out, rows = {}, []
    for header in files(top):
        text = header.read_text(encoding="utf-8")
        parts = [f"# {header.relative_to(top / 'include')}\n"]
        for name, declaration, comment, threads in functions(text):
            parts.append(f"\n## {name}\n\n```c\n{declaration}\n```\n\n{comment}\n\n| | |\n|---|---|\n| owner | {ownership(declaration)} |\n"
                         f"| threads | {THREADS.get(threads, 'the header has no label for it')} |\n| errors | {errors(declaration)} |\n")
            rows.append(f"| [`{name}`]({header.stem}.md#{name}) | {header.name} |")
        if len(parts) > 1:
            out[f"c/{header.stem}.md"] = "".join(parts)
    out["c/index.md"] = ("# C functions\n\nOwners, threads and errors follow the five rules at the top of `thunder.h`. A function of each op is on "
                         "[its page](../ops/index.md).\n\n| function | header |\n|---|---|\n" + "\n".join(sorted(rows)) + "\n")
    return out


def names(top):
    """Every function that abi.symbols lists, but those of ops."""
    return [line for line in (top / "capi" / "abi.symbols").read_text(encoding="utf-8").splitlines() if line.startswith("thunder_")]
