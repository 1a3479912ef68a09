"""The compiler's layers use the words of their field, which a reader who knows LLVM, Halide or XLA has met before.

Names and comments of core/executors and core/loops have none of the words on the left; nor have the names of their tests
and of the tracer's, which are plain claims: whoever reads one in a report knows what broke.
"""
import re

FOLDERS = ("core/executors/", "core/loops/")
TESTS = ("tests/core/executors/", "tests/core/loops/", "tests/core/tracer/")

WORDS = {
    "turned": "transposed", "spread": "broadcast", "followers": "epilogue", "settle": "prepack", "settles": "prepack",
    "stretch": "interval", "stretches": "intervals", "weigh": "online softmax", "dear": "expensive",
    "dearer": "more expensive", "riddle": "", "fetched_ahead": "prefetched", "fate": "", "lent": "borrowed",
    "told": "", "whom": "", "nobody": "", "somebody": "", "goes_over": "passes over", "bounds_of": "value range of",
}
RIDDLES = ("what", "who", "anything", "something")  # in the name of a test: name the thing itself

NAME = re.compile(r"[A-Za-z_]\w*")
RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)  # the text of kernels
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
TEST = re.compile(r"^TEST(?:_[FP])?\((\w+), (\w+)\)")


def parts(text):
    """The words of a text, those that identifiers consist of among them."""
    for name in NAME.findall(text):
        for word in re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_"):
            yield word


def check(tree):
    for path in tree.files:
        if path.startswith(FOLDERS) and path.endswith((".cpp", ".h")):
            text = RAW.sub(lambda raw: re.sub(r"[^\n]", "", raw.group(0)), tree.read(path))
            for number, line in enumerate(text.splitlines(), 1):
                for word in parts(STRING.sub('""', line)):
                    if word in WORDS:
                        tree.fail(path, message(word), number)
        elif path.startswith(TESTS) and path.endswith(".cpp"):
            for number, line in enumerate(tree.lines(path), 1):
                match = TEST.match(line)
                for word in match.group(2).lower().split("_") if match else ():
                    if word in WORDS or word in RIDDLES:
                        tree.fail(path, f"the name of a test says '{word}': {match.group(2)}", number)


def message(word):
    return f"'{word}' is not a word of this field" + (f": {WORDS[word]}" if WORDS[word] else "")
