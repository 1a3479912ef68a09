"""Tests mirror the code: each layer has tests, and each source file of core/ is named by at least one.

"Named" is its stem as a word, which the name X_test.cpp, an include of its header and a sentence such as
"also covers X" all satisfy. Definitions of ops and modules and the host kernels are exempt: loops over the
registry test them.
"""
import re

from checks.tree import LAYERS

EXEMPT = re.compile(r"^core/(ops/defs|modules/kinds|executors/host)/")


def check(tree):
    tests = [path for path in tree.files if path.startswith("tests/") and not path.startswith("tests/golden/")]
    words = set()
    for path in tests:
        for text in (tree.read(path), path):
            words |= set(re.findall(r"\w+", text))
    words |= {word.removesuffix("_test") for word in words}
    for layer in LAYERS:
        sources = [path for path in tree.files if path.startswith(f"core/{layer}/") and path.endswith(".cpp")]
        if sources and not any(path.startswith((f"tests/core/{layer}/", f"tests/battery/{layer}_test.")) for path in tests):
            tree.fail(f"core/{layer}", f"has no test in tests/core/{layer}, and no tests/battery/{layer}_test.cpp")
        for path in sources:
            stem = path.rsplit("/", 1)[1].removesuffix(".cpp")
            if not EXEMPT.match(path) and stem not in words:
                tree.fail(path, f"no test names it; tests/{path.removesuffix('.cpp')}_test.cpp is its place")
