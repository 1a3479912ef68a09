"""What compiled functions, traces and lists of ops look like at the prompt and in a notebook."""
import html
import inspect
import re
from typing import NamedTuple


def counted(number, what):
    return f"{number} {what}" + ("" if number == 1 else "s")


# ---- rows of what the library describes ----

class Row(dict):
    """What is said of an op or an option: a dict, which prints as text."""

    def _heading(self):
        return self["schema"] if "schema" in self else f"{self['name']} ({self['kind']}, by default {self['default'] or 'none'})"

    def __repr__(self):
        return f"{self._heading()}\n    {self['doc']}"

    def _repr_html_(self):
        return f"<p><code>{html.escape(self._heading())}</code><br>{html.escape(self['doc'])}</p>"


class Rows(list):
    """A list of them, which prints as text too."""

    def __init__(self, rows):
        super().__init__(map(Row, rows))

    def __getitem__(self, at):
        found = super().__getitem__(at)
        return Rows(found) if isinstance(at, slice) else found

    def __repr__(self):
        return "\n".join(map(repr, self)) or "[]"

    def _repr_html_(self):
        cells = "".join(f"<tr><td style='text-align:left'><code>{html.escape(row._heading())}</code></td>"
                        f"<td style='text-align:left'>{html.escape(row['doc'])}</td></tr>" for row in self)
        return f"<table>{cells}</table>"


def op_text(op):
    return f"<op {op.schema}>"


def op_html(op):
    return f"<p><code>{html.escape(op.schema)}</code><br>{html.escape(op.__doc__.partition(chr(10))[0])}</p>"


# ---- traces ----

_LINE = re.compile(r"^  t\[\d+\]", re.MULTILINE)
_REMARK = re.compile(r"(--.*)$", re.MULTILINE)


class _Stage(NamedTuple):
    name: str
    ms: float
    text: str


class Trace(_Stage):
    """One stage of a program. It prints as a program that reads like Lua."""

    def __new__(cls, name, ms, text, kept=None):
        made = super().__new__(cls, name, ms, text)
        made._kept = kept  # the trace itself, with the tensors that it captured
        return made

    def __reduce__(self):
        return Trace, tuple(self)  # what it captured stays behind

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<trace after {self.name}, {self.ms:.3f} ms>\n{self.text}"

    def _lines(self):
        return len(_LINE.findall(self.text))

    def _details(self, opened):
        body = _REMARK.sub(r"<span style='opacity:0.6'>\1</span>", html.escape(self.text))
        heading = html.escape(f"after {self.name}: {counted(self._lines(), 'line')}, {self.ms:.3f} ms")
        return f"<details{' open' * opened}><summary>{heading}</summary><pre>{body}</pre></details>"

    def _repr_html_(self):
        return self._details(True)


class Traces(list):
    """The stages of a program. At the prompt the list is a table of contents; print(traces[-1]) shows one."""

    def __getitem__(self, at):
        found = super().__getitem__(at)
        return Traces(found) if isinstance(at, slice) else found

    def __repr__(self):
        width = max((len(trace.name) for trace in self), default=0)
        rows = [f"[{number}] after {trace.name:<{width}}  {trace._lines():>5} lines  {trace.ms:9.3f} ms" for number, trace in enumerate(self)]
        return "\n".join(rows) or "[]"

    def _repr_html_(self):
        return "".join(trace._details(trace is self[-1]) for trace in self)


# ---- compiled functions ----

def compiled_text(function):
    called = vars(function).get("__wrapped__")  # a trace, or a program of a file, is none of Python's functions
    name = "of a trace" if called is None else getattr(called, "__qualname__", type(called).__qualname__)
    try:
        name += "" if called is None else str(inspect.signature(getattr(called, "forward", called)))
    except (TypeError, ValueError):
        pass  # of a callable in C
    counts = function.stats()
    return f"<compiled function {name}: {counted(counts['calls'], 'call')}, {counted(counts['entries'], 'program')}>"
