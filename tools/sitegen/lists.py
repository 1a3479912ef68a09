"""Options, logs, reports and backends, as the library describes them, each with a program and what it printed as the site was built.

The programs are sections of examples/KIND.lua, each behind the line `-- NAME`; the section `default` is for all that have none of their own."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent / "examples"
LINES, COLUMNS = 14, 150  # of what a program printed
HEADS = {
    "options": ("Options of compile", "`th.compile(f, { NAME = VALUE })` in Lua, `th.compile(f, NAME=VALUE)` in Python, `thunder_options_set` in C."),
    "logs": ("Logs", "`THUNDER_LOGS=NAME` in the environment, `th.set_logs(NAME)`; `+NAME` says more: [debugging](../debugging.md)."),
    "reports": ("Reports", "`thunder explain FILE NAME`, `th.explain(f, NAME)`: [debugging](../debugging.md)."),
    "backends": ("Backends", "`th.compile(f, { backend = NAME })`. Engines of others are there where their library is: [engines](../engines.md)."),
}


def described(tool, what):
    text = subprocess.run([tool, "-e", f'print(th.describe "{what}")'], capture_output=True, text=True, check=True).stdout
    return json.loads(text)


def cell(text):
    return str(text).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def about(kind, row):
    """All that the library says of an entry."""
    text = cell(row["doc"])
    if kind == "options":
        default = f"`{row['default']}`".replace(",", ", ") if row["default"] else "none"
        text = f"A {row['kind']}; without it {default}. {text}"
    return f"{text} With `+{row['name']}`: {cell(row['more'])}" if row.get("more") else text


def programs(kind):
    """{name: program} of the sections of examples/KIND.lua."""
    parts = re.split(r"^-- (\w+)\n", (EXAMPLES / f"{kind}.lua").read_text(encoding="utf-8"), flags=re.M)
    return {name: code.strip() for name, code in zip(parts[1::2], parts[2::2])}


def program(kind, name, sections):
    """What shows this entry; none: nothing does."""
    code = sections.get(name, sections.get("default"))
    if code and kind == "reports":
        code += f'\nprint(th.explain(f, "{name}"))'
    return code and code.replace("NAME", json.dumps(name))


def printed(tool, kind, name, code):
    """What it prints, logs included. A program that fails, or that shows nothing, fails the site."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("THUNDER_")}
    if kind == "logs":
        environment["THUNDER_LOGS"] = name
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([pathlib.Path(tool).resolve(), "run", "-"], input=f'local th = require "thunder"; th.seed(0); {code}', stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, cwd=folder, env=environment)
    if done.returncode or not done.stdout.strip():
        raise SystemExit(f"site: the example of {name}, one of the {kind}, gave {done.returncode} and {done.stdout or 'nothing'}")
    lines = [line if len(line) <= COLUMNS else line[:COLUMNS] + " ..." for line in done.stdout.strip().splitlines()]
    return "\n".join(lines[:LINES] + ["..."] * (len(lines) > LINES))


def page(tool, kind):
    title, how = HEADS[kind]
    rows, sections = described(tool, kind), programs(kind)
    shown = {row["name"]: program(kind, row["name"], sections) for row in rows}
    without = [name for name, code in shown.items() if not code]
    unknown = set(sections) - set(shown) - {"default"}
    if without or unknown:
        raise SystemExit(f"site: examples/{kind}.lua lacks {without} and has {sorted(unknown)}, which nothing is called")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(shown, pool.map(lambda name: printed(tool, kind, name, shown[name]), shown)))
    table, entries = "| name | what |\n|---|---|\n", ""
    for row in rows:
        name, first = row["name"], re.match(r".*?\.(?= |$)|.*", row["doc"])[0]
        table += f"| [`{name}`](#{name}) | {cell(first)} |\n"
        entries += f"\n## {name} {{#{name}}}\n\n{about(kind, row)}\n\n```lua\n{shown[name]}\n```\n\n```text\n{results[name]}\n```\n"
    return f"# {title}\n\n{how} The programs are Lua behind `local th = require \"thunder\"`.\n\n{table}{entries}"


def pages(tool):
    return {f"{kind}.md": page(tool, kind) for kind in HEADS}
