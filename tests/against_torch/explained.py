"""The explained differences: the file of a sweep read, and each failure given its reason."""
import fnmatch
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).parent
FILES = {"samples": "exclusions.toml", "borders": "borders.toml", "writes": "writes.toml", "options": "options.toml"}


class Exclusions:
    """names: {name: reason} of what is not here; rows: those of the sweep's samples; any_values: {name: reason} of ops whose values are drawn or
    left as they are, so that only shapes and dtypes are compared."""

    def __init__(self, sweep="samples"):
        read = tomllib.loads((FOLDER / FILES["samples"]).read_text(encoding="utf-8"))
        self.names = {name: row["reason"] for row in read["name"] for name in row["names"]}
        self.any_values = {name: row["reason"] for row in read["any_values"] for name in row["names"]}
        if sweep != "samples":
            read = tomllib.loads((FOLDER / FILES[sweep]).read_text(encoding="utf-8"))
        self.rows = [{**row, "pattern": re.compile(row.get("text", ""))} for row in read["sample"]]

    def reason_of_name(self, name):
        return next((reason for pattern, reason in self.names.items() if fnmatch.fnmatchcase(name, pattern)), None)

    def compares_values(self, full_name):
        return not any(fnmatch.fnmatchcase(full_name, pattern) for pattern in self.any_values)

    def reason_of(self, full_name, row):
        """Why the row of a sample that is not equal is as it is; None where nothing says so."""
        for known in self.rows:
            if (any(fnmatch.fnmatchcase(full_name, name) for name in known["ops"]) and row["part"] in known.get("part", row["part"])
                    and row["what"] in known.get("what", row["what"]) and row["dtype"] in known.get("dtypes", [row["dtype"]])
                    and known["pattern"].search(row["text"])):
                return known["reason"]
        return None
