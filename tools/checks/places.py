"""The paths that docs/architecture.md names under "Where is ...?" are in the tree.

A name without a folder lies in the folder of the path before it in its row; NAME and * stand for any.
"""
import fnmatch
import re

PAGE, HEADING = "docs/architecture.md", "## Where is ...?"
PATH = re.compile(r"`([\w.*/-]+(?:/|\.(?:cpp|h|c|md|py|lua|i)))`")


def rows(text):
    section = text.partition(HEADING)[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")]


def check(tree):
    if PAGE not in tree.files:
        return
    for row in rows(tree.read(PAGE)):
        folder = ""
        for path in PATH.findall(row):
            if "/" not in path:
                path = folder + path
            folder = path[:path.rindex("/") + 1] if "/" in path else ""
            pattern = path.replace("NAME", "*")
            if not any(fnmatch.fnmatch(file, pattern + "*" if pattern.endswith("/") else pattern) for file in tree.files):
                tree.fail(PAGE, f"there is no {path}")
