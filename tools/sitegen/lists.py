"""Options, logs, reports and backends, as the library describes them."""
import json
import subprocess


def described(tool, what):
    text = subprocess.run([tool, "-e", f'print(th.describe "{what}")'], capture_output=True, text=True, check=True).stdout
    return json.loads(text)


def cell(text):
    return str(text).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def table(rows, keys):
    head = "| " + " | ".join(keys) + " |\n|" + "---|" * len(keys) + "\n"
    return head + "\n".join("| " + " | ".join(f"`{r[k]}`" if k == "name" else cell(r[k]) for k in keys) + " |" for r in rows) + "\n"


def pages(tool):
    return {
        "options.md": "# Options of compile\n\n" + table(described(tool, "options"), ("name", "kind", "default", "doc")),
        "logs.md": "# Logs\n\nNames for `THUNDER_LOGS` and `set_logs`: [debugging](../debugging.md).\n\n" + table(described(tool, "logs"), ("name", "doc", "more")),
        "reports.md": "# Reports\n\n`thunder explain FILE NAME`, `th.explain(f, NAME)`.\n\n" + table(described(tool, "reports"), ("name", "doc")),
        "backends.md": "# Backends\n\n" + table(described(tool, "backends"), ("name", "doc")),
    }
