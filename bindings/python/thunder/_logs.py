"""The library's logs by name, as loggers of Python's."""
import json
import logging

from . import _thunder

_LEVELS = (logging.DEBUG, logging.INFO)


def say(level, name, text):
    """A line of the log `name`; the extension calls this."""
    logging.getLogger("thunder." + name).log(_LEVELS[level], "%s", text)


def log_names():
    """The names that set_logs() takes, each with what it says."""
    return {row["name"]: row["doc"] for row in json.loads(_thunder.describe("logs"))}


def _word(name, level):
    if level is True:
        return name
    if level is False:
        return ""
    if not isinstance(level, int):
        raise TypeError(f"set_logs: {name} takes a level of logging's or a bool, not {type(level).__name__}")
    if level > logging.WARNING:
        return "-" + name
    return "+" + name if level <= logging.DEBUG else name if level <= logging.INFO else ""


def set_logs(logs="", **levels):
    """Which logs speak from now on: "guards,+fusion,-recompiles" as PyTorch's TORCH_LOGS, or torch._logging.set_logs' names with True or
    a level: guards=True, fusion=logging.DEBUG. Without either: none but warnings. They are children of the logger "thunder", which gets
    a handler for standard error where there is none. The environment's THUNDER_LOGS comes first."""
    _thunder.set_logs(",".join([logs, *(_word(name, level) for name, level in levels.items())]))
    logger = logging.getLogger("thunder")
    logger.setLevel(logging.DEBUG)
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
