"""Results that show the memory of an argument, or of another result: the views that lead there are taken again of what they begin at."""
import operator

import torch

from . import _private, _symbols
from ._rows import find


def _view(node):
    """Which kind of view its result is, "": none."""
    node = node.args[0] if node.target is operator.getitem else node
    return find(node.target).view if node.op == "call_function" else ""


def viewed(node):
    """The node that begins what a node shows, an input or what is computed, and the views on the way there."""
    way = []
    while node.op == "call_function" and _view(node):
        way.insert(0, node)
        node = node.args[0].args[0] if node.target is operator.getitem else node.args[0]
    while way and node.op == "call_function" and _view(way[0]) == "new":
        node, way = way[0], way[1:]
    return node, way


def is_static(fake):
    return not _private.is_symbolic((*fake.shape, *fake.stride(), fake.storage_offset()))


def _step(node):
    """(op, arguments behind the tensor, named ones, number among the results): sizes as torch has them."""
    number = node.args[1] if node.target is operator.getitem else None
    node = node.args[0] if number is not None else node
    args, named = torch.fx.map_arg((node.args[1:], node.kwargs), lambda one: one.meta["val"])
    return node.target, args, named, number


class Views:
    """Views in their order."""

    def __init__(self, way, sizes):
        self.sizes, self.steps, self.varies = sizes, [_step(node) for node in way], False
        self.counted(None)

    def counted(self, arguments):
        """The steps with the numbers that sizes are, for the arguments of a call; None: only whether there are such sizes."""
        def number(one):
            if not isinstance(one, torch.SymInt):
                return one
            self.varies = True
            return 0 if arguments is None else self.sizes.count(_symbols.expression(one), arguments)
        if arguments is not None and not self.varies:
            return self.steps
        return [(view, *torch.fx.node.map_aggregate((args, named), number), at) for view, args, named, at in self.steps]


def seen(tensor, steps):
    """What the steps of such views show of a tensor."""
    for view, args, named, number in steps:
        tensor = view(tensor, *args, **named)
        if number is not None:
            tensor = tensor[number]
    return tensor


class Argument:
    """An argument, which is given back as it is."""

    def __init__(self, at):
        self.at = at

    def of(self, arguments):
        return arguments[self.at]


class Shown(Argument):
    """A view of an argument, which nothing computes: at once where the argument lies as it did, else by the views that led there."""

    def __init__(self, at, root, way, sizes):
        super().__init__(at)
        fake, whole = way[-1].meta["val"], root.meta["val"]
        self.views, self.expected = Views(way, sizes), None
        if is_static(fake) and is_static(whole) and not any(_view(node) == "bits" for node in way):
            self.expected = whole.stride()
            self.size, self.stride, self.start = fake.shape, fake.stride(), fake.storage_offset() - whole.storage_offset()

    def of(self, arguments):
        argument = arguments[self.at]
        if argument.stride() == self.expected:
            return argument.as_strided(self.size, self.stride, argument.storage_offset() + self.start)
        return seen(argument, self.views.counted(arguments))


class Part:
    """A view of a result, or of what is computed on the way to results and seen by several of them. `first`: whoever has no views is
    that tensor itself; others are views of it, or, where autograd may give it a gradient (`apart`), tensors of their own."""

    def __init__(self, whole, way, sizes, first, apart):
        self.whole, self.views, self.first, self.apart = whole, Views(way, sizes), first, apart or not way

    def of(self, arguments):
        return self.views.counted(arguments)

    def given(self, made, steps):
        return made if self.first else seen(made.detach() if self.apart else made, steps)
