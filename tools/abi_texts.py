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
    """"op NAME" and the rest of its schema, for those that users call. Nobody passes names of results."""
    for name, rest, notes in re.findall(r"^\| `(\w+)(\(.*?\) -> [^`]+)` \|.*\| (.*)\|$", page.read_text(encoding="utf-8"), re.MULTILINE):
        parameters, _, results = rest.replace("\\|", "|").rpartition(" -> ")
        results = re.sub(r"\b(tensor\??) \w+", r"\1", results)
        yield "op " + name, f"{parameters} -> {results}" + (", in place too" if "in place:" in notes else "")


def _split(schema):
    """The parameters of a schema, and what stands behind them."""
    parameters, _, rest = schema.partition(") -> ")
    return re.split(r", (?=[a-z])", parameters[1:]) if len(parameters) > 1 else [], rest


def _takes(now, then):
    """Whether a parameter takes what it took: also where a number may now stand for a tensor, a tensor for a number, a
    string for a list, or None for any."""
    kinds, names = zip(*(text.split(" ", 1) for text in (now, then)))
    new, old = (kind.replace("|number", "").replace("|str", "").rstrip("?") for kind in kinds)
    widened = "|number" in kinds[0] and old in ("int", "float")
    return names[0] == names[1] and (new == old or widened) and (kinds[0].endswith("?") or not kinds[1].endswith("?"))


def holds(name, then, now):
    """Whether what was compiled against the one works with the other: an op may get arguments that have defaults."""
    if not name.startswith("op ") or now is None or then == now:
        return then == now
    (old, gives), (new, gives_now) = _split(then), _split(now)
    return (gives == gives_now and len(new) >= len(old) and all(map(_takes, new, old))
            and all("=" in added for added in new[len(old):]))


def promises(include, page):
    return {**dict(macros(include)), **dict(ops(page))}


def write(baseline, now):
    """Whether a number may stand for a tensor is no promise: what was compiled passes a handle either way."""
    lines = (f"{name}\t{value.replace('tensor|number', 'tensor')}\n" for name, value in sorted(now.items()))
    baseline.write_text("".join(lines), encoding="utf-8")


def compare(baseline, now):
    """(what no longer holds, what is new), as lines."""
    then = dict(line.split("\t") for line in baseline.read_text(encoding="utf-8").splitlines())
    broken = [f"{name} was '{value}', " + (f"is '{now[name]}'" if name in now else "and is gone")
              for name, value in then.items() if not holds(name, value, now.get(name))]
    return broken, [f"{name} is new" for name in sorted(now.keys() - then.keys())]
