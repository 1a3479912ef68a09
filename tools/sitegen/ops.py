"""A page for each op, of the table that the registry writes: docs/ops.md."""
import re

COLUMNS = ("signature", "result", "dtypes", "gradient", "jvp", "vmap", "executors", "cases", "notes")


def rows(top):
    for line in (top / "docs" / "ops.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| `"):
            continue
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == len(COLUMNS):
            yield dict(zip(COLUMNS, cells))


def page(name, row):
    signature = row["signature"].strip("`").replace("\\|", "|")
    labels = (("dtypes", "dtypes that it takes"), ("gradient", "gradient"), ("jvp", "tangent (jvp)"), ("vmap", "batch (vmap)"),
              ("executors", "executors that know it by name"), ("cases", "inputs on which the battery runs it"), ("notes", "notes"))
    table = "\n".join(f"| {label} | {row[key] or 'none'} |" for key, label in labels)
    c_name = "th_" + name.replace(".", "_")
    return (f"# {name}\n\n```\n{signature}\n```\n\n{row['result']}\n\n| | |\n|---|---|\n{table}\n\n"
            f"`th.{name}` in Lua and Python, `{c_name}` in C. What the words of this table mean: [ops](../../ops.md).\n")


def pages(top):
    out, index = {}, []
    for row in rows(top):
        name = re.match(r"`([\w.]+)", row["signature"])[1]
        out[f"ops/{name}.md"] = page(name, row)
        index.append(f"| [`{name}`]({name}.md) | {row['result']} |")
    out["ops/index.md"] = "# Ops\n\n| op | what it gives |\n|---|---|\n" + "\n".join(index) + "\n"
    return out
