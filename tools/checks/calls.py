"""What the C interface declares is used by a test that knows it alone or its boundary: each exported function is called by
name, each enumerator is named.

tests/capi/null_test.cpp calls all functions with zeros; that says nothing about what they do.
"""
import re

SYMBOLS = "capi/abi.symbols"
ENUMERATOR = re.compile(r"\b(THUNDER_\w+) = ")


def check(tree):
    tests = [path for path in tree.files if path.startswith(("tests/c/", "tests/capi/", "tests/cuda/"))]
    text = "\n".join(tree.read(path) for path in tests)
    called, named = set(re.findall(r"\b(thunder_\w+)\(", text)), set(re.findall(r"\bTHUNDER_\w+", text))
    if SYMBOLS in tree.files:
        for number, line in enumerate(tree.lines(SYMBOLS), 1):
            name = line.split("#")[0].strip()
            if name and name not in called:
                tree.fail(SYMBOLS, f"no test calls {name}", number)
    for path in tree.files:
        if not path.startswith("include/"):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            for name in ENUMERATOR.findall(line):
                if name not in named:
                    tree.fail(path, f"no test names {name}", number)
