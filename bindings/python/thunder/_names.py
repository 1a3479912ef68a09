"""Unknown names: every error about one suggests the nearest that exists."""
import difflib


def suggest(name, names):
    """" (did you mean 'x'?)", or "" when no name is near."""
    near = difflib.get_close_matches(name, sorted(names), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""
