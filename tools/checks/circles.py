"""The files of a layer use each other in one direction: what one defines, no file that it uses itself needs.

In C by names: what a header of the folder declares, which file defines it at the start of a line, and which files say it. In
C++ by includes, where a header and the source of its name are one.
"""
import posixpath
import re

FOLDERS = ("bindings/python/src", "bindings/lua")
INCLUDING = ("core/jit",)
INCLUDE = re.compile(r'^#include "([^"]+)\.h"', re.M)
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
DECLARED = re.compile(r"^(?!typedef|static|#|\s|\{)[\w \*]*?\b(\w+)\(", re.M)
VARIABLES = re.compile(r"^extern [\w \*]*?\b(\w+(?:\[\])?(?:, \*?\w+(?:\[\])?)*);", re.M)


def check(tree):
    for folder in FOLDERS:
        texts = {path: COMMENT.sub("", tree.read(path)) for path in tree.files if path.startswith(folder + "/") and path.endswith((".c", ".h"))}
        for circle in circles(used(texts)):
            tree.fail(circle[0], "files use each other in a circle: " + ", ".join(circle))
    for folder in INCLUDING:
        uses = included(tree, folder)
        for circle in circles(uses):
            tree.fail(circle[0], "files include each other in a circle: " + ", ".join(circle))
        for circle in circles(by_folder(uses)):
            tree.fail(circle[0], "folders include each other in a circle: " + ", ".join(circle))


def included(tree, folder):
    """file, without its ending -> the files of the folder that its header or its source includes."""
    uses = {}
    for path in tree.files:
        stem, ending = posixpath.splitext(path)
        if path.startswith(folder + "/") and ending in (".cpp", ".h"):
            uses.setdefault(stem, set()).update("core/" + name for name in INCLUDE.findall(tree.read(path)))
    return {stem: {other for other in others if other in uses} - {stem} for stem, others in uses.items()}


def by_folder(uses):
    """folder -> the other folders whose files its files include."""
    folders = {}
    for path, others in uses.items():
        folder = posixpath.dirname(path)
        folders.setdefault(folder, set()).update({posixpath.dirname(other) for other in others} - {folder})
    return folders


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
