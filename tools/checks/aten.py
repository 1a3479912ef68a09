"""What is known of an ATen op stands in its row: no other file of the torch door names one, but for those that rewrite graphs, and what
translates an op is told of the graph only what its row asks for."""
import re

DOOR = "bindings/python/thunder/torch/"
ROWS, NODES = DOOR + "aten/", DOOR + "aten/nodes.py"
REWRITES = (DOOR + "_rewrites.py", DOOR + "_groups.py")
NAMED = re.compile(r"\b_?aten\.\w+")
GRAPH = re.compile(r"\bnode\b|\.meta\b|\.users\b|torch\.fx\b")


def check(tree):
    for path in tree.files:
        if not path.startswith(DOOR) or path in (*REWRITES, NODES):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            if path.startswith(ROWS) and GRAPH.search(line):
                tree.fail(path, f"looks into torch's graph: {GRAPH.search(line).group()}; a field of the row says what it is given", number)
            elif not path.startswith(ROWS) and not line.startswith(("from ", "import ")) and NAMED.search(line):
                tree.fail(path, f"names {NAMED.search(line).group()}; a field of its row in aten/ says what is to be known of it", number)
