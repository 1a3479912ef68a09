"""Lua's own functions: the comments that stand before them, which th.help shows, too."""
import re

START = re.compile(r"^-- (?:[\w ,]+: )?(th\.[\w.]+(?:\([^)]*\))?)")


def entries(top):
    for source in sorted((top / "bindings" / "lua").glob("*.lua")):
        block = []
        for line in source.read_text(encoding="utf-8").splitlines() + [""]:
            if line.startswith("-- "):
                block.append(line)
                continue
            found = START.match(block[0]) if block else None
            if found:
                yield found[1], " ".join(b[3:] for b in block)
            block = []


def pages(top):
    parts = ["# Lua's functions\n\nBeside the [ops](ops/index.md), which are `th.NAME` and methods of tensors. `help(f)` at the prompt says the same.\n"]
    for call, text in sorted(entries(top)):
        rest = text[text.index(call) + len(call):].lstrip(": ")
        escaped = re.sub(r"([*<_])", r"\\\1", rest)
        parts.append(f"\n## {call.split('(')[0]}\n\n```lua\n{call}\n```\n\n{escaped}\n")
    return {"lua.md": "".join(parts)}
