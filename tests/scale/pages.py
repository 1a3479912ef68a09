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
    for page, number, text in found:
        with tempfile.TemporaryDirectory() as folder:
            app = pathlib.Path(folder) / "app.py"
            # A launcher may put what two ranks print into one line: each has a file of its own.
            app.write_text(f"import os, sys\nsys.stdout = open({folder!r} + f'/{{os.getpid()}}.said', 'w')\n{text}", encoding="utf-8")
            code, said = on_ranks(sys.argv[1], 2, [sys.executable, app])
            losses = [float(said.read_text(encoding="utf-8").split()[-1]) for said in pathlib.Path(folder).glob("*.said")] if code == 0 else []
            if len(losses) != 2 or losses[0] != losses[1] or not math.isfinite(losses[0]):
                sys.exit(f"{page}, program {number}: it ended with {code} and printed\n{said}")


main()
