"""A folder of core/ includes itself and the layers before it, and nothing that knows a language.

The include roots of the build already keep an upward include from compiling; this also sees files that no
configuration builds, and paths that walk around the roots. Nowhere do headers include each other in a circle, but for the
parts of the public header.
"""
import os
import re

from checks.tree import LAYERS

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
FOREIGN = re.compile(r"^(thunder\.h|thunder/.*|lua\w*\.(h|hpp)|Python\.h|capi/.*)$")


ROOTS = ("core", "include", "capi", "bindings", "bindings/python/src", "bindings/swig/core", "tests", "bench", "bench/groups")


def check(tree):
    _check_circles(tree)
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


def _check_circles(tree):
    headers = {path for path in tree.files if path.endswith((".h", ".hpp")) and not path.startswith("include/")}
    included = {path: _headers_of(tree, path, headers) for path in headers}
    done, way = set(), []

    def visit(path):
        if path in way:
            tree.fail(path, "headers include each other: " + " -> ".join(way[way.index(path):] + [path]))
        if path in done or path in way:
            return
        way.append(path)
        for target in included[path]:
            visit(target)
        done.add(way.pop())

    for path in sorted(headers):
        visit(path)


def _headers_of(tree, path, headers):
    found = []
    for line in tree.lines(path):
        match = INCLUDE.match(line)
        if match and match.group(1) == '"':
            places = (os.path.normpath(os.path.join(base, match.group(2))) for base in (os.path.dirname(path), *ROOTS))
            found += [place for place in places if place in headers][:1]
    return found
