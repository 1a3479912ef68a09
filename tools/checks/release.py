"""The newest release of CHANGELOG.md, which CMake takes for the version, is that of the header and of the Python package; none has more than
100 lines."""
import re

CHANGES, HEADER, PYTHON = "CHANGELOG.md", "include/thunder.h", "bindings/python/pyproject.toml"


def check(tree):
    if CHANGES not in tree.files:
        return
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", tree.read(CHANGES), re.MULTILINE)
    if not newest:
        return tree.fail(CHANGES, "there is no release such as ## [1.2.3]")
    for release in re.split(r"^## ", tree.read(CHANGES), flags=re.MULTILINE)[1:]:
        if len(release.splitlines()) > 100:
            tree.fail(CHANGES, f"{release.split()[0]} has {len(release.splitlines())} lines; a release has at most 100, by area")
    for place in (HEADER, PYTHON):
        if place not in tree.files:
            continue
        text = tree.read(place)
        if place == HEADER:
            found = ".".join(re.findall(r"^#define THUNDER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))
        else:
            found = "".join(re.findall(r'^version = "(.*)"$', text, re.MULTILINE))
        if found != newest[1]:
            tree.fail(place, f"the version is {found}, that of {CHANGES} {newest[1]}")
