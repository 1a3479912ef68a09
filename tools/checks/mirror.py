"""Each source of core, capi, cli and bindings has a test that is found: at its mirrored path, tests/core/x/y_test.cpp of core/x/y.cpp, or by a
line of the test, "covers: PATH ...", of paths from the top of the tree, in which * stands for anything. `uncovered.txt` beside this file lists
the sources that have none yet; it only shrinks.
"""
import fnmatch
import re

from checks.tree import LAYERS

SOURCES = re.compile(r"^(core|capi|cli|bindings)/.*\.(cpp|c|py|lua)$")
TESTS = re.compile(r"^tests/(?!golden/|support/)")
MIRRORED = (("bindings/python/thunder/torch/aten/", "tests/torch/"), ("bindings/python/thunder/torch/", "tests/torch/"),
            ("bindings/python/thunder/", "tests/python/"), ("bindings/python/src/", "tests/python/"),
            ("bindings/lua/", "tests/lua/"), ("bindings/swig/", "tests/languages/"), ("", "tests/"))
COVERS = re.compile(r"^(?://|#|--) covers: (.*)", re.M)
LIST = "tools/checks/uncovered.txt"
MOST = 202  # lines of it


def check(tree):
    tests = [path for path in tree.files if TESTS.match(path)]
    for layer in LAYERS:
        sources = any(path.startswith(f"core/{layer}/") and path.endswith(".cpp") for path in tree.files)
        if sources and not any(path.startswith((f"tests/core/{layer}/", f"tests/battery/{layer}_test.")) for path in tests):
            tree.fail(f"core/{layer}", f"has no test in tests/core/{layer}, and no tests/battery/{layer}_test.cpp")
    sources = [path for path in tree.files if SOURCES.match(path)]
    covered = by_lines(tree, tests, sources)
    places = {path.rpartition(".")[0].removesuffix("_test") for path in tests}
    found = {path for path in sources if path in covered or place(path) in places}
    listed = set(tree.read(LIST).split()) if LIST in tree.files else set()
    for path in sorted(set(sources) - found - listed):
        tree.fail(path, f"no test is found: {place(path)}_test is its place, or a line of a test says `covers: {path}`")
    for path in sorted(listed - (set(sources) - found)):
        tree.fail(LIST, f"{path} has a test, or is gone: take it out")
    if len(listed) > MOST:
        tree.fail(LIST, f"{len(listed)} sources without a test; {MOST} is the limit, and falls with them")


def place(path):
    """Where the test of a source would be, without its ending."""
    here, there = next(pair for pair in MIRRORED if path.startswith(pair[0]))
    return there + path[len(here):].rpartition(".")[0].lstrip("_")


def by_lines(tree, tests, sources):
    """The sources that lines of tests name."""
    covered, known = set(), set(sources)
    for path in tests:
        for line in COVERS.findall(tree.read(path)):
            for name in line.split():
                named = set(fnmatch.filter(sources, name)) if "*" in name else {name} & known
                if not named:
                    tree.fail(path, f"covers: {name}, which is no source")
                covered |= named
    return covered
