"""How tensors are printed: torch's options, for all of the process."""
from . import _schema, _thunder

_VALUES = {"precision": int, "threshold": float, "edgeitems": int, "linewidth": int, "sci_mode": lambda text: text == "true"}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed from now on, as torch.set_printoptions has it: `precision` digits behind the point (4); tensors of
    more than `threshold` elements (1000) show `edgeitems` (3) of each end of a dim; lines are broken at `linewidth` characters
    (80). `profile` is "default", "short" or "full". `sci_mode` says whether numbers are in scientific notation; None leaves
    that to the elements. What is not given stays as it is, but for `sci_mode`."""
    _thunder.set_printoptions({"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth,
                               "profile": profile, "sci_mode": sci_mode})


def get_printoptions():
    """What set_printoptions() takes, and what it is now."""
    rows = {row["name"]: row["value"] for row in _schema.describe("printoptions")}
    values = {name: None if rows[name] == "null" else read(rows[name]) for name, read in _VALUES.items()}
    if values["threshold"].is_integer():
        values["threshold"] = int(values["threshold"])
    return values


class printoptions:
    """set_printoptions() for a `with` block."""

    def __init__(self, **options):
        self.options = options

    def __enter__(self):
        self.before = get_printoptions()
        set_printoptions(**self.options)
        return get_printoptions()

    def __exit__(self, *error):
        set_printoptions(**self.before)
