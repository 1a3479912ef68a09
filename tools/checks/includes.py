"""A folder of core/ includes itself and the layers before it, and nothing that knows a language.

The include roots of the build already keep an upward include from compiling; this also sees files that no
configuration builds, and paths that walk around the roots.
"""
import re

from checks.tree import LAYERS

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
FOREIGN = re.compile(r"^(thunder\.h|thunder/.*|lua\w*\.(h|hpp)|Python\.h|capi/.*)$")


def check(tree):
    for path in tree.files:
        if not path.endswith((".cpp", ".h", ".hpp", ".cu", ".c")):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            match = INCLUDE.match(line)
            if match:
                _check_include(tree, path, number, match.group(1), match.group(2))


def _check_include(tree, path, number, quote, target):
    if ".." in target.split("/"):
        tree.fail(path, f"includes {target}: a path from the layer's root, not one through ..", number)
        return
    parts = path.split("/")
    if parts[0] != "core" or len(parts) < 3 or parts[1] not in LAYERS:
        return
    here, there = parts[1], target.split("/")[0]
    if FOREIGN.match(target):
        tree.fail(path, f"includes {target}: core knows neither the C API nor a language", number)
    elif there in LAYERS and "/" in target:
        if LAYERS.index(there) > LAYERS.index(here):
            tree.fail(path, f"includes {target}: {there}/ is above {here}/ in the layers", number)
        if quote == "<":
            tree.fail(path, f"includes <{target}>: our own headers go in quotes", number)
    elif quote == '"':
        tree.fail(path, f'includes "{target}": write it as "layer/..."', number)
