"""pages.py MPIRUN: the whole programs of docs/scale.md and docs/sharding.md end well on two ranks, and print one finite loss on both."""
import math
import pathlib
import re
import sys
import tempfile

from launch import on_ranks

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def programs(page):
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if block.startswith("import thunder")]


def main():
    found = [(page, number, text) for page in ("scale.md", "sharding.md") for number, text in enumerate(programs(page), 1)]
    assert [page for page, _, _ in found] == ["scale.md"] + 3 * ["sharding.md"], found
    with tempfile.TemporaryDirectory() as folder:
        app = pathlib.Path(folder) / "app.py"
        for page, number, text in found:
            app.write_text(text, encoding="utf-8")
            code, said = on_ranks(sys.argv[1], 2, [sys.executable, app])
            losses = [float(line) for line in re.findall(r"^[\w.+-]+$", said, re.MULTILINE)] if code == 0 else []
            if len(losses) != 2 or losses[0] != losses[1] or not math.isfinite(losses[0]):
                sys.exit(f"{page}, program {number}: it ended with {code} and printed\n{said}")


main()
