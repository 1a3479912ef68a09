"""A page for each op: of the table that the registry writes, docs/ops.md, of what its prims become in engines, docs/engines.md, and of an
example, which the tool runs as the site is built."""
import json
import re
import subprocess

COLUMNS = ("signature", "result", "dtypes", "gradient", "jvp", "vmap", "executors", "cases", "notes")
MARK = "-- example "
SHORT = 1200  # characters of what an example prints


def rows(top):
    for line in (top / "docs" / "ops.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| `"):
            continue
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == len(COLUMNS):
            yield dict(zip(COLUMNS, cells))


def engines(top):
    """{prim: (ONNX, StableHLO)}: what it becomes, or "no: why"."""
    found = {}
    for line in (top / "docs" / "engines.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `prims."):
            prim, onnx, xla = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            found[prim.strip("`")] = (onnx, xla)
    return found


def examples(tool, opgen):
    """{op: {code, prims, printed}}: the call of a sample, what it comes down to, and what it printed. An example that fails fails the site."""
    found = json.loads(subprocess.run([opgen, "examples"], capture_output=True, text=True, check=True).stdout)
    script = ['local th = require "thunder"']
    for name, example in found.items():
        script.append(f'print({json.dumps(MARK + name)})\nth.seed(0)\ndo\n{example["code"]}\nend')
    done = subprocess.run([tool, "run", "-"], input="\n".join(script), capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stdout.rsplit(MARK, 1)[-1].split("\n")[0]
        raise SystemExit(f"site: the example of {last} failed: {done.stderr}")
    for part in done.stdout.split(MARK)[1:]:
        name, printed = part.split("\n", 1)
        found[name]["printed"] = printed.rstrip() if len(printed) < SHORT else printed[:SHORT].rstrip() + " ..."
    return found


def written_as_c(top):
    """The prims that C export writes beside fused kernels."""
    text = (top / "core" / "jit" / "programs" / "c_ops.cpp").read_text(encoding="utf-8")
    return set(re.findall(r'Row\{"(prims\.\w+)"', text)) | {"prims.matmul"}


def where(prims, known, in_c):
    """(place, what is lacking there) of an op that comes down to these prims."""
    def lacking(has):
        return ", ".join(f"`{p}`" for p in prims if not has(p))
    yield "CPU", "all of it"
    cuda = lacking(lambda p: prims[p]["cuda"])
    yield "CUDA devices", f"by way of the CPU: {cuda}" if cuda else "all of it, but for dtypes that [CUDA](../../cuda.md) names"
    for place, has in (("ONNX models", lambda p: not known.get(p, ("no", ""))[0].startswith("no")),
                       ("OpenXLA", lambda p: not known.get(p, ("", "no"))[1].startswith("no")),
                       ("C export", lambda p: prims[p]["fused"] or p in in_c)):
        without = lacking(has)
        yield place, f"not where it comes down to {without}" if without else "all of it"


def page(name, row, example, known, in_c):
    signature = row["signature"].strip("`").replace("\\|", "|")
    labels = (("dtypes", "dtypes that it takes"), ("gradient", "gradient"), ("jvp", "tangent (jvp)"), ("vmap", "batch (vmap)"),
              ("executors", "executors that know it by name"), ("cases", "inputs on which the battery runs it"), ("notes", "notes"))
    table = "\n".join(f"| {label} | {row[key] or 'none'} |" for key, label in labels)
    c_name = "th_" + name.replace(".", "_")
    shown = ""
    if example:
        ran = "\n".join(f"| {place} | {says} |" for place, says in where(example["prims"], known, in_c))
        shown = (f"## Where it runs\n\n| | |\n|---|---|\n{ran}\n\nIt comes down to {', '.join(f'`{p}`' for p in example['prims']) or 'no prim'}.\n\n"
                 f"## Example\n\n```lua\n{example['code']}\n```\n\n```text\n{example['printed']}\n```\n\n")
    return (f"# {name}\n\n```\n{signature}\n```\n\n{row['result']}\n\n| | |\n|---|---|\n{table}\n\n{shown}"
            f"`th.{name}` in Lua and Python, `{c_name}` in C. What the words of this table mean: [ops](../../ops.md).\n")


def pages(top, tool, opgen):
    out, index, known, in_c, shown = {}, [], engines(top), written_as_c(top), examples(tool, opgen)
    for row in rows(top):
        name = re.match(r"`([\w.]+)", row["signature"])[1]
        out[f"ops/{name}.md"] = page(name, row, shown.get(name), known, in_c)
        index.append(f"| [`{name}`]({name}.md) | {row['result']} |")
    out["ops/index.md"] = "# Ops\n\n| op | what it gives |\n|---|---|\n" + "\n".join(index) + "\n"
    return out
