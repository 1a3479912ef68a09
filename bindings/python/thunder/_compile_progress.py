"""How far a compile is, on the terminal, where it takes over half a second."""
import sys
import time

_SLOW = 0.5  # seconds
_wanted = None


def show_compiles(on=None):
    """Whether a compile that takes over half a second says on standard error how far it is, in one line that goes when it is done. None, which
    is what happens without this: where standard error is a terminal. It holds for functions that are compiled from now on, and that have
    no `progress` of their own."""
    global _wanted
    _wanted = on


def _is_terminal():
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # None, or closed
        return False


class _Line:
    """What the option `progress` calls: (stage, done, total)."""

    def __init__(self):
        self.began, self.drawn = time.monotonic(), False

    def __call__(self, stage, done, total):
        if stage == "trace":
            self.began, self.drawn = time.monotonic(), False
        last = stage == "record_graph"
        if not self.drawn and (last or time.monotonic() - self.began <= _SLOW):
            return
        self.drawn = not last
        try:
            sys.stderr.write("\r\x1b[K" + ("" if last else f"compiling: {stage} {done}/{total}"))
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):
            pass  # whoever closed standard error does not want to see it


def option():
    """The option `progress` of a function that is compiled now; None where nothing is shown."""
    return _Line() if (_is_terminal() if _wanted is None else _wanted) else None
