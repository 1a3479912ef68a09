"""Each folder that a reader may enter first has a README.md of at most 15 lines."""
import re

TOPS = "core capi bindings tests bench examples docs tools cli".split()
ROOM = re.compile(rf"^(?:(?:{'|'.join(TOPS)})|(?:core|bindings)/[^/]+|core/executors/[^/]+(?:/[^/]+)?|examples/[^/]+)$")
LIMIT = 15


def check(tree):
    folders = set()
    for path in tree.files:
        parts = path.split("/")[:-1]
        folders |= {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    for folder in sorted(folder for folder in folders if ROOM.match(folder)):
        readme = folder + "/README.md"
        if readme not in tree.files:
            tree.fail(folder, "has no README.md")
        elif len(tree.lines(readme)) > LIMIT:
            tree.fail(readme, f"{len(tree.lines(readme))} lines; {LIMIT} is the limit")
