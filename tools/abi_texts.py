"""What programs were compiled against beside names and types: the macros of the headers, and the schemas of ops, by which
rules, executors and other languages know them. The baseline is a text of one promise a line, capi/abi.texts."""
import os
import re
import subprocess

HEADERS = ("thunder.h", "thunder/ops.h", "thunder/plugin.h")
# Guards of headers, steps of other macros, and what a release counts up.
OWN_BUSINESS = re.compile(r"\w+_H$|\w+_$|THUNDER_VERSION_\w+$")


def macros(include):
    """"macro NAME" or "macro NAME(a, b)" and what each stands for."""
    given = "".join(f"#include <{header}>\n" for header in HEADERS)
    text = subprocess.run([os.environ.get("CC") or "cc", "-std=gnu11", "-dM", "-E", f"-I{include}", "-x", "c", "-"], input=given,
                          check=True, capture_output=True, text=True).stdout
    for name, arguments, value in re.findall(r"^#define (THUNDER_\w+)(\([^)]*\))?[ ]?(.*)$", text, re.MULTILINE):
        if not OWN_BUSINESS.match(name):
            yield "macro " + name, f"{arguments} {' '.join(value.split())}".strip()


def ops(page):
    """"op NAME" and the rest of its schema, for those that users call; the page is generated from the registry. Whether a number may
    stand for a tensor does not count: what was compiled passes a handle either way."""
    for name, rest, notes in re.findall(r"^\| `(\w+)(\(.*?\) -> [^`]+)` \|.*\| (.*)\|$", page.read_text(encoding="utf-8"), re.MULTILINE):
        yield "op " + name, rest.replace("tensor\\|number", "tensor") + (", in place too" if "in place:" in notes else "")


def promises(include, page):
    return {**dict(macros(include)), **dict(ops(page))}


def write(baseline, now):
    baseline.write_text("".join(f"{name}\t{value}\n" for name, value in sorted(now.items())), encoding="utf-8")


def compare(baseline, now):
    """(what no longer holds, what is new), as lines."""
    then = dict(line.split("\t") for line in baseline.read_text(encoding="utf-8").splitlines())
    broken = [f"{name} was '{value}', " + (f"is '{now[name]}'" if name in now else "and is gone")
              for name, value in then.items() if now.get(name) != value]
    return broken, [f"{name} is new" for name in sorted(now.keys() - then.keys())]
