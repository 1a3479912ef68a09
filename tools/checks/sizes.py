"""Sizes: files of core and capi fail above 300 lines, others are questioned there and fail above 600. A folder of core, capi, cli and bindings
has at most 25 files; those that have more are listed with their number, which only falls.

What is generated or data is exempt.
"""
import collections
import os

from checks import generated

QUESTIONED, LIMIT, FOLDER = 300, 600, 25
STRICT = ("core/", "capi/")
CATALOGUES = ("core/ops/defs", "core/modules/kinds")  # there the listing is the documentation
ROOMS = ("core/", "capi", "cli", "bindings/")
THIS = "tools/checks/sizes.py"
LARGER = {
    "bindings/lua": 67, "bindings/python/src": 62, "bindings/python/thunder": 69, "capi": 59, "cli": 32,
    "core/base": 68, "core/executors/cuda/cudnn": 27, "core/ir": 48, "core/jit/programs": 31,
    "core/loops/llvm": 35, "core/modules": 43, "core/onnx": 35, "core/ops": 73,
    "core/passes": 56, "core/program": 44, "core/tensor": 26, "core/tracer": 53,
}


def is_generated(tree, path):
    return path in generated.outputs() or any("@generated" in line for line in tree.lines(path)[:5])


def check(tree):
    folders = collections.Counter()
    for path in tree.files:
        if not tree.is_code(path) or is_generated(tree, path):
            continue
        folders[os.path.dirname(path)] += 1
        count = len(tree.lines(path))
        limit = QUESTIONED if path.startswith(STRICT) else LIMIT
        if count > limit:
            tree.fail(path, f"{count} lines; {limit} is the limit")
        elif count > QUESTIONED:
            tree.question(path, f"{count} lines; is it one idea?")
    for folder, count in sorted(folders.items()):
        if folder.startswith(CATALOGUES) or not folder.startswith(ROOMS):
            continue
        most = LARGER.get(folder, FOLDER)
        if count > most:
            tree.fail(folder, f"{count} files in one folder; {most} is the limit")
        elif count < most != FOLDER and THIS in tree.files:
            tree.fail(THIS, f"{folder} has {count} files: lower its number, or take it out at {FOLDER}")


def print_totals(tree):
    """Lines of code by folder, the folders of core/ apart, so that growth is seen."""
    lines, files = collections.Counter(), collections.Counter()
    for path in tree.files:
        if not tree.is_code(path):
            continue
        parts = path.split("/")
        depth = 2 if parts[0] in ("core", "bindings") else 1
        folder = "/".join(parts[:-1][:depth]) or "."
        lines[folder] += len(tree.lines(path))
        files[folder] += 1
    for folder in sorted(lines):
        print(f"{lines[folder]:7} lines {files[folder]:5} files  {folder}")
    print(f"{sum(lines.values()):7} lines {sum(files.values()):5} files  in all")
