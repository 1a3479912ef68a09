"""Lua's own functions: the comments that stand before or behind them, which th.help shows, too."""
import re
import subprocess

NAME = r"(?:th|data|members)\.[\w.]+"
# `function th.f(x)`, `th.f, th.g = ...`, and what may stand behind on the line: `-- (x): what it does`.
DEFINED = re.compile(rf"^(?:function )?({NAME}(?:, {NAME})*)(?:(\([^)]*\))| =(?!=))(?:.*? -- (.*))?")
CALL = re.compile(r"\b(th\.[\w.]+)(\([^)]*\))")
TABLES = {"data": "th.data", "members": "th.cuda"}
# What the tool lists of the module: every function in it and in its tables.
LIST = """
local th = require "thunder"
local function callable(v)
  local meta = type(v) == "table" and getmetatable(v)
  return type(v) == "function" or (meta and meta.__call ~= nil)
end
for name, value in pairs(th) do
  if callable(value) then print("th." .. name) end
  if type(value) == "table" then
    for inner, f in pairs(value) do if type(inner) == "string" and callable(f) then print("th." .. name .. "." .. inner) end end
  end
end
"""


def comments(top):
    """Each comment of Lua's layer with the lines of code below it, up to an empty one."""
    for source in sorted((top / "bindings" / "lua").glob("*.lua")):
        block, code = [], []
        for line in source.read_text(encoding="utf-8").splitlines() + [""]:
            if line.startswith("-- ") and not code:
                block.append(line[3:])
            elif line and not line.startswith("-- "):
                code.append(line)
            else:
                yield " ".join(block), code
                block, code = [line[3:]] if line else [], []


def entries(top):
    """{name: (call, what it does)}: of its own comment, of the one that the lines around it share, or of one that shows a call of it."""
    found, shown = {}, {}
    for text, code in comments(top):
        calls = dict(CALL.findall(text))
        for line in code:
            defined = DEFINED.match(line)
            for name in defined[1].split(", ") if defined else ():
                table, rest = name.split(".", 1)
                name = f"{TABLES.get(table, table)}.{rest}"
                behind = re.match(r"(\([^)]*\)): (.*)", defined[3] or "")
                words = behind[2] if behind else defined[3] or re.sub(rf"^{re.escape(name)}(\([^)]*\))?: ", "", text)
                if words:
                    found.setdefault(name, (name + (behind[1] if behind else calls.get(name) or defined[2] or ""), words))
        for name, arguments in calls.items():
            shown.setdefault(name, (name + arguments, text))
    return {**shown, **found}


def missing(top, tool, pages):
    """The functions of the module that neither its page nor one of ops, layers and optimisers has."""
    have = set(re.findall(r"^## (th\.[\w.]+)", pages["lua.md"], re.M))
    modules = set(re.findall(r"^### (\w+)$|`(\w+)[(`]", (top / "docs" / "modules.md").read_text(encoding="utf-8"), re.M))
    modules = {name for pair in modules for name in pair}
    for name in subprocess.run([tool, "run", "-"], input=LIST, capture_output=True, text=True, check=True).stdout.split():
        short = name.split(".", 1)[1]
        op = any(f"ops/{base}.md" in pages for base in (short, short.rstrip("_"), short.replace("linalg.", "linalg_"), short.replace("special.", "")))
        if name not in have and not op and short.split(".")[-1] not in modules:
            yield name


def pages(top):
    parts = ["# Lua's functions\n\nBeside the [ops](ops/index.md), which are `th.NAME` and methods of tensors. `help(f)` at the prompt says the same.\n"]
    for call, text in sorted(entries(top).values()):
        escaped = re.sub(r"([*<_])", r"\\\1", text)
        parts.append(f"\n## {call.split('(')[0]}\n\n```lua\n{call}\n```\n\n{escaped}\n")
    return {"lua.md": "".join(parts)}
