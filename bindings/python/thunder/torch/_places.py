"""Where the user's code calls what a node of a graph does."""
import os
import re

import torch

_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_TORCH = os.path.dirname(torch.__file__) + os.sep


def place_of(node):
    """The user's "file:line", where torch has noted it: the innermost line of the stack that is none of torch's own, if there is one. Of a
    module of torch's that holds modules, which no line of the user's calls: "Sequential.0 Linear"."""
    found = _PLACE.findall(node.stack_trace or "")
    own = [place for place in found if not place[0].startswith(_TORCH)] or found
    return ":".join(own[-1]) if own else _module_of(node)


def _module_of(node):
    modules = list((node.meta.get("nn_module_stack") or {}).values())
    if not modules:
        return None
    (first, outer), (last, inner) = modules[0], modules[-1]
    names = [getattr(one, "__name__", str(one).rpartition(".")[2]) for one in (outer, inner)]
    return names[0] + (f"{last.removeprefix(first)} {names[1]}" if len(modules) > 1 else "")


def text_of(node):
    place = place_of(node)
    return f"{node.target}" + (f" at {place}" if place else "")
