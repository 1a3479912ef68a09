"""What a compile and a call did: counts, profiles, examinations, pages."""
import json
import os

from . import _functions, _thunder
from ._functions import _compiled
from ._thunder import Compiled


def ready(function):
    """The function itself where it is compiled, else compiled."""
    return function if isinstance(function, Compiled) else _functions.compile(function)


class Profile:
    """What profile() measured; printed, a table with the slowest step first.

    `steps` are dicts of ops, executor, where (the user's lines), flops, bytes, ms, share (of the limit) and bound ("memory" or
    "arithmetic"); `ms` is the median of a call, `gflops` and `gbytes` are what the machine did in the same run."""

    def __init__(self, compiled):
        self._text, self._events = compiled.explain("profile"), compiled.explain("chrome_trace")
        self.__dict__.update(json.loads(compiled.explain("profile_json")))

    def __repr__(self):
        return self._text

    def save_chrome_trace(self, path):
        """Writes the last run for chrome://tracing and Perfetto."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._events)


def profile(function, *args, runs=10, **named):
    """Calls `function` once and then `runs` times with each step timed: what a call does, these do."""
    compiled = ready(function)
    compiled.profile(runs, *args, **named)
    return Profile(compiled)


def report(function, path, *args, **named):
    """Writes a page of HTML about `function`, which must have been called before, or is profiled and examined for these arguments."""
    compiled = ready(function) if args or named else _compiled(function, "report")
    if args or named:
        compiled.profile(5, *args, **named)
        compiled.examine(*args, **named)
    compiled.write_report(os.fspath(path))


def plot_history(histories, path):
    """Draws numbers by name, such as {"loss": losses}, as a page (.html) or a picture (.png).

    A history is a list of numbers or of losses as they are, an array of numpy, or a tensor of one dim; what is not finite is a gap.
    """
    _thunder.plot_history(histories, os.fspath(path))


def last_prologue_traces(function):
    """What is checked before the program compiled last runs, as text: its guards, a formula a line. A list, as lightning-thunder has it."""
    return [_compiled(function, "last_prologue_traces").explain("guards")]


def cache_hits(function):
    """How many calls found a program."""
    return compile_stats(function)["hits"]


def cache_misses(function):
    """How many calls compiled one."""
    return compile_stats(function)["misses"]


def last_miss_reason(function):
    """Why the last call that compiled had to."""
    return _compiled(function, "last_miss_reason").last_miss()


def compile_stats(function):
    """Counts of calls, and compiles by reason and by stage, with histograms of their times: counts between the edges `edges_ms`."""
    return json.loads(_compiled(function, "compile_stats").explain("stats"))


def last_compile_options(function):
    """The options of the latest program: {"used": {name: value}, "unused": {name: why}, "unknown": {}}. Unknown ones are errors when they
    are given."""
    text = _compiled(function, "last_compile_options").explain("options")
    return json.loads(text) if text else {"used": {}, "unused": {}, "unknown": {}}


def list_transforms(function):
    """The names of the passes that the caller added to the compile of the latest program, in order."""
    return _compiled(function, "list_transforms").explain("transforms").split()


def reports():
    """What explain() can be asked for by name, each with what it says."""
    return {row["name"]: row["doc"] for row in json.loads(_thunder.describe("reports"))}
