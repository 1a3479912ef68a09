"""Each function that the library exports is called by name in a test that knows the C interface alone or its boundary.

tests/capi/null_test.cpp calls all of them with zeros; that says nothing about what they do.
"""
import re

SYMBOLS = "capi/abi.symbols"


def check(tree):
    if SYMBOLS not in tree.files:
        return
    tests = [path for path in tree.files if path.startswith(("tests/c/", "tests/capi/"))]
    called = {name for path in tests for name in re.findall(r"\b(thunder_\w+)\(", tree.read(path))}
    for number, line in enumerate(tree.lines(SYMBOLS), 1):
        name = line.split("#")[0].strip()
        if name and name not in called:
            tree.fail(SYMBOLS, f"no test calls {name}", number)
