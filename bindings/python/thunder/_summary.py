"""summary(net, x): the layers of a module with what they give, hold and have to do."""
import json

from . import _functions
from ._thunder import Tensor
from ._tree import tree_leaves

_DIGITS = ("", "k", "M", "G", "T")


def short(number):
    """1,234,567 as 1.23 M."""
    unit = 0
    while number >= 1000 and unit < len(_DIGITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.3g} {_DIGITS[unit]}".strip()


def _shapes(value):
    return [tuple(t.shape) for t in tree_leaves(value) if isinstance(t, Tensor)]


def _bytes(value):
    return sum(t.nbytes for t in tree_leaves(value) if isinstance(t, Tensor))


def _cost(module, args):
    """Of one call of a layer, line by line: its operations are the same whoever runs it."""
    compiled = _functions.compile(lambda *inputs: module(*inputs), executors="host")
    compiled.prepare(*args)
    return json.loads(compiled.explain("cost"))["flops"]


class Summary:
    """`rows`: a dict for each module that ran: name, kind, shapes, parameters, bytes (of results), flops (of modules without children);
    parameters, flops, parameter_bytes and result_bytes are those of all."""

    def __init__(self, rows, parameters, parameter_bytes):
        self.rows, self.parameters, self.parameter_bytes = rows, parameters, parameter_bytes
        self.flops = sum(row["flops"] for row in rows)
        self.result_bytes = sum(row["bytes"] for row in rows if row["leaf"])

    def __repr__(self):
        cells = [("layer", "kind", "gives", "parameters", "FLOP")]
        for row in self.rows:
            depth = row["name"].count(".") + 1 if row["name"] else 0
            shapes = ", ".join("[" + ", ".join(map(str, shape)) + "]" for shape in row["shapes"])
            cells.append(("  " * depth + (row["name"].rpartition(".")[2] or "(whole)"), row["kind"], shapes, f"{row['parameters']:,}" if row["parameters"] else "",
                          short(row["flops"]) if row["leaf"] else ""))
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = ["  ".join(text.ljust(width) if i < 3 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))).rstrip() for row in cells]
        total = (f"{self.parameters:,} parameters, {short(self.parameter_bytes)}B; {short(self.flops)}FLOP; {short(self.result_bytes)}B of layers' "
                 "results")
        return "\n".join([*lines, total])


def summary(net, *args, **named):
    """The modules of `net` in the order in which they run for these arguments, each with the shapes of its results, its own parameters and
    its floating-point operations. The module runs once, op by op."""
    seen, handles = [], []
    names = {id(module): name for name, module in net.named_modules()}

    def note(module, inputs, output):
        seen.append((module, inputs, output))

    for _, module in net.named_modules():
        handles.append(module.register_forward_hook(note))
    try:
        net(*args, **named)
    finally:
        for handle in handles:
            handle.remove()
    rows = []
    for module, inputs, output in seen:
        leaf = sum(1 for _ in module.named_modules()) == 1
        own = sum(p.numel() for name, p in module.named_parameters() if "." not in name)
        rows.append({"name": names[id(module)], "kind": type(module).__name__, "shapes": _shapes(output), "parameters": own, "bytes": _bytes(output),
                     "leaf": leaf, "flops": _cost(module, inputs) if leaf else 0})
    order = {name: i for i, name in enumerate(names.values())}
    rows.sort(key=lambda row: order[row["name"]])
    parameters = list(net.parameters())
    return Summary(rows, sum(p.numel() for p in parameters), sum(p.nbytes for p in parameters))
