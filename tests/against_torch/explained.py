"""The explained differences: the file of a sweep read, and each failure given its reason."""
import fnmatch
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).parent
FILES = {"samples": "exclusions.toml", "borders": "borders.toml", "writes": "writes.toml", "options": "options.toml"}


def _compiled(rows):
    return [{**row, "pattern": re.compile(row.get("text", ""))} for row in rows]


def _both(row):
    """The parts of a row of samples, compiled as well."""
    return {"part": [*row["part"], *(f"compiled {part}" for part in row["part"])]} if "part" in row else {}


class Exclusions:
    """names: {name: reason} of what is not here; rows: those of the sweep's samples; shared: what any other sweep may meet, too, samples that are
    refused and what compiled functions do not take; any_values: {name: reason} of ops whose values are drawn or left as they are, so that only
    shapes and dtypes are compared."""

    def __init__(self, sweep="samples"):
        read = tomllib.loads((FOLDER / FILES["samples"]).read_text(encoding="utf-8"))
        self.names = {name: row["reason"] for row in read["name"] for name in row["names"]}
        self.any_values = {name: row["reason"] for row in read["any_values"] for name in row["names"]}
        self.rows, self.shared = _compiled(read["sample"]), []
        if sweep != "samples":
            refused = [{**row, "what": ["refused"], **_both(row)} for row in self.rows if "refused" in row.get("what", ["refused"])]
            self.shared = refused + _compiled({"part": ["compiled forward"], **row} for row in read["compiled"])
            self.rows = _compiled(tomllib.loads((FOLDER / FILES[sweep]).read_text(encoding="utf-8"))["sample"])

    def reason_of_name(self, name):
        return next((reason for pattern, reason in self.names.items() if fnmatch.fnmatchcase(name, pattern)), None)

    def compares_values(self, full_name):
        return not any(fnmatch.fnmatchcase(full_name, pattern) for pattern in self.any_values)

    def reason_of(self, full_name, row):
        """Why the row of a sample that is not equal is as it is; None where nothing says so."""
        for known in self.rows + self.shared:
            if (any(fnmatch.fnmatchcase(full_name, name) for name in known["ops"]) and row["part"] in known.get("part", row["part"])
                    and row["what"] in known.get("what", row["what"]) and row["dtype"] in known.get("dtypes", [row["dtype"]])
                    and known["pattern"].search(row["text"])):
                return known["reason"]
        return None
