"""Pages of docs/ and those above them that are read rather than looked up: none is longer than 250 lines, and no sentence has more than three figures; tables and blocks of code
have as many as they need."""
import re

LINES = 250
FIGURES = 3
GENERATED = "@generated"  # by a tool from a table, and so a reference
FIGURE = re.compile(r"(?<![\w.\-/\[(`])\d(?:[\d,.]*\d)?(?![\w])")
# What has digits and is no figure.
NAMES = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|\b\d{4}-\d\d-\d\d\b|"
                   r"\b(?:PyTorch|CUDA|Debian|Lua|C|Python|oneDNN|LLVM|opset|version)s? \d[\d.]*(?: (?:and|or|to) \d[\d.]*)?")


def paragraphs(lines):
    """(number of the first line, text) of each that is neither code nor table nor heading."""
    code, text, first = False, [], 0
    for number, line in enumerate([*lines, ""], 1):
        fence = line.startswith("```")
        code ^= fence
        ends = code or fence or not line.strip() or line.startswith(("|", "#", "    "))
        if text and (ends or re.match(r"\s*(?:[-*]|\d+\.) ", line)):
            yield first, " ".join(text)
            text = []
        if not ends:
            first = first if text else number
            text.append(line.strip())


def check(tree):
    for path in tree.files:
        if not path.endswith(".md") or ("/" in path and not path.startswith("docs/")):
            continue
        lines = tree.lines(path)
        generated = GENERATED in tree.read(path)
        if not generated and len(lines) > LINES:
            tree.fail(path, f"{len(lines)} lines; a page that is no reference has at most {LINES}")
        for number, text in [] if generated else paragraphs(lines):
            for sentence in re.split(r"(?<=[.:;?!])\s+(?=[A-Z`*(])", text):
                count = len(FIGURE.findall(NAMES.sub("", sentence)))
                if count > FIGURES:
                    tree.fail(path, f"a sentence with {count} figures, which a table would show: {sentence[:60]} ...", number)
