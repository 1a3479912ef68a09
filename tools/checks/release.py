"""The newest release of CHANGELOG.md, which CMake takes for the version, is that of the header and of what packages say; none has more than
100 lines, and no line stands twice."""
import re

CHANGES = "CHANGELOG.md"
# Where the version stands, its parts in the order of the pattern's finds.
PLACES = {
    "include/thunder.h": r"^#define THUNDER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
    "bindings/python/pyproject.toml": r'^version = "(.*)"$',
    "CITATION.cff": r"^version: (.*)$",
    "cmake/debian/changelog": r"\Athunder \((.*?)\)",
}


def check(tree):
    if CHANGES not in tree.files:
        return
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", tree.read(CHANGES), re.MULTILINE)
    if not newest:
        return tree.fail(CHANGES, "there is no release such as ## [1.2.3]")
    for release in re.split(r"^## ", tree.read(CHANGES), flags=re.MULTILINE)[1:]:
        if len(release.splitlines()) > 100:
            tree.fail(CHANGES, f"{release.split()[0]} has {len(release.splitlines())} lines; a release has at most 100, by area")
    lines = [line for line in tree.read(CHANGES).splitlines() if len(line) > 40]
    for line in sorted({line for line in lines if lines.count(line) > 1}):
        tree.fail(CHANGES, f"the line stands twice: {line}")
    for place, pattern in PLACES.items():
        if place not in tree.files:
            continue
        found = ".".join(re.findall(pattern, tree.read(place), re.MULTILINE))
        if found != newest[1]:
            tree.fail(place, f"the version is {found}, that of {CHANGES} {newest[1]}")
