"""The files of a layer use each other in one direction: what one defines, no file that it uses itself needs.

In C by names: what a header of the folder declares, which file defines it at the start of a line, and which files say it. In
C++ by includes, where a header and the source of its name are one; the circles that are known may only shrink. In Python by what modules
import as they are loaded.
"""
import ast
import posixpath
import re

FOLDERS = ("bindings/python/src", "bindings/lua")
PACKAGE = "bindings/python/thunder"
INCLUDING = ("core/", "capi/", "cli/")
THIS = "tools/checks/circles.py"
TREES = ("core/jit",)  # whose folders, too, include each other in one direction
KNOWN = """\
capi: boundary handle live
capi: kernel op
core/base: handle_history handle_table ref status text
core/base: thread_pool thread_watch
core/device: accelerator exchange memory
core/device/cuda: device recording
core/executors/cpu/convolution: correlation depthwise
core/executors/cpu/products: amx amx_pack
core/executors/cuda/cublaslt: algorithm_cache problem session timing
core/executors/cuda/cudnn: attention attention_call attention_graph attention_mask attention_padded attention_parts
core/executors/cuda/cudnn: graph plan plans session
core/executors/fusion: lower lowering
core/ir: dim dim_reads normal post_order same_size shape
core/loops/cuda: source writer
core/modules: access fully_shard inputs kind module set_option text
core/onnx: importer node program rows schema
core/ops: builder numbers
core/ops: registry world_collectives
core/program: donated locations plan plan_formulas plan_steps program recorded
core/tensor: spares tensor transfer
core/tracer: eager result_memory scope tracing
core/tracer: replay replayed_sizes
"""  # from before there was this check
INCLUDE = re.compile(r'^#include "([^"]+)\.h"', re.M)
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
DECLARED = re.compile(r"^(?!typedef|static|#|\s|\{)[\w \*]*?\b(\w+)\(", re.M)
VARIABLES = re.compile(r"^extern [\w \*]*?\b(\w+(?:\[\])?(?:, \*?\w+(?:\[\])?)*);", re.M)


def check(tree):
    for folder in FOLDERS:
        texts = {path: COMMENT.sub("", tree.read(path)) for path in tree.files if path.startswith(folder + "/") and path.endswith((".c", ".h"))}
        for circle in circles(used(texts)):
            tree.fail(circle[0], "files use each other in a circle: " + ", ".join(circle))
    for circle in circles(imported(tree)):
        tree.fail(circle[0], "modules import each other in a circle: " + ", ".join(circle))
    known = [line.split(": ") for line in KNOWN.splitlines()] if THIS in tree.files else []
    left = {tuple(f"{folder}/{name}" for name in names.split()) for folder, names in known}
    uses = included(tree)
    for circle in circles(uses):
        if circle in left:
            left.remove(circle)
        else:
            tree.fail(circle[0], "files include each other in a circle: " + ", ".join(circle))
    for circle in left:
        tree.fail(THIS, "is no circle any more, or a smaller one: " + ", ".join(circle))
    for folder in TREES:
        for circle in circles(by_folder(uses, folder)):
            tree.fail(circle[0], "folders include each other in a circle: " + ", ".join(circle))


def included(tree):
    """file, without its ending -> the files that its header or its source includes."""
    uses = {}
    for path in tree.files:
        stem, ending = posixpath.splitext(path)
        if path.startswith(INCLUDING) and ending in (".cpp", ".h"):
            names = INCLUDE.findall(tree.read(path))
            uses.setdefault(stem, set()).update(place for name in names for place in (name, "core/" + name))
    return {stem: {other for other in others if other in uses} - {stem} for stem, others in uses.items()}


def by_folder(uses, tree):
    """folder of a tree of them -> the other folders whose files its files include."""
    folders = {}
    for path, others in uses.items():
        folder = posixpath.dirname(path)
        if (folder + "/").startswith(tree + "/"):
            folders.setdefault(folder, set()).update({posixpath.dirname(other) for other in others} - {folder})
    return {folder: {other for other in others if other in folders} for folder, others in folders.items()}


def imported(tree):
    """module of the package, by its path -> those that it imports by a relative name, outside of functions."""
    paths = [path for path in tree.files if path.startswith(PACKAGE + "/") and path.endswith(".py")]
    home = {path.removesuffix(".py").removesuffix("/__init__"): path for path in paths}
    return {path: {home[name] for name in imports(tree.read(path), path) if name in home} - {path} for path in paths}


def imports(text, path):
    """What may be modules, as paths without an ending."""
    for line in ast.parse(text).body:
        if isinstance(line, ast.ImportFrom) and line.level:
            base = "/".join([*path.split("/")[:-line.level], *(line.module or "").split(".")]).rstrip("/")
            yield from [base] * bool(line.module)
            yield from (f"{base}/{name.name}" for name in line.names)


def used(texts):
    """file -> the files that define what it says."""
    names = set()
    for path, text in texts.items():
        if path.endswith(".h"):
            names |= set(DECLARED.findall(text))
            names |= {name.strip(" *[]") for each in VARIABLES.findall(text) for name in each.split(",")}
    home, sources = {}, [path for path in texts if path.endswith(".c")]
    for path in sources:
        for name in re.findall(r"^(?!static|extern|#|\s|\})[\w \*]*?\b(\w+)(?:\([^;]*?\)\s*\{|(?:\[\w*\])?(?: = [^;]*)?;)", texts[path], re.M):
            if name in names:
                home[name] = path
    return {path: {home[word] for word in set(re.findall(r"\w+", texts[path])) if word in home} - {path} for path in sources}


def circles(uses):
    """Groups of files each of which is reached from each other one."""
    reached = {}
    for path in uses:
        seen, left = set(), [path]
        while left:
            for other in uses[left.pop()] - seen:
                seen.add(other)
                left.append(other)
        reached[path] = seen
    return sorted({tuple(sorted(other for other in reached[path] if path in reached[other])) for path in uses if path in reached[path]})
