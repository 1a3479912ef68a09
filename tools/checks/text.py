"""Text that must not be in the tree: promises without a number, places and names of one machine, names of commits in prose, names
of prims outside of their rows, and long lines."""
import re

COLUMNS = 120  # of a line in core and capi

RULES = (
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b(?!\s*\(?#\d)"), "a {0} needs an issue number: {0}(#12)"),
    (re.compile(r"(?<![\w.})\]/:-])/(?:home|root|work|Users|mnt|srv|data|tmp|var/tmp)/[\w.]"),
     "an absolute path of one machine"),
    (re.compile(r"(?:://|@)[\w.-]+\.(?:internal|intranet|corp|lan|localdomain)\b"), "the name of a private host"),
    (re.compile(r"(?<![\d.])(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?![\d.])"),
     "a private address"),
)

# The compiler does not see that such a name is misspelt, nor who compares with it.
PRIM = re.compile(r'"prims\.(\w+)')

# A commit's name says nothing to a reader of a page: the date and the log of what was measured do.
COMMIT = re.compile(r"(?<![\w./#-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")


def check_prose(tree, path):
    code = False
    for number, line in enumerate(tree.lines(path), 1):
        code ^= line.startswith("```")
        match = None if code else COMMIT.search(line)
        if match:
            tree.fail(path, f"{match[0]} is the name of a commit; pages have the date, or the log", number)


def check(tree):
    for path in tree.files:
        if path.endswith((".csv", ".safetensors")) or re.search(r"/data/[^/]+\.txt$", path) or path == "LICENSE":
            continue  # not our words
        if path.endswith(".md"):
            check_prose(tree, path)
        strict = path.startswith(("core/", "capi/")) and path.endswith((".cpp", ".h"))
        for number, line in enumerate(tree.lines(path), 1):
            prim = strict and not path.startswith("core/ops/defs/") and PRIM.search(line)
            if prim:
                tree.fail(path, f"a prim by its name as text; write Prim::{prim[1]} (core/ir/prim.h)", number)
            if strict and len(line) > COLUMNS:
                tree.fail(path, f"the line has {len(line)} columns; {COLUMNS} is the limit", number)
            for pattern, message in RULES:
                match = pattern.search(line)
                if match:
                    tree.fail(path, message.format(match.group(1) if match.groups() else ""), number)
