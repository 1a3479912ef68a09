"""What a graph returns, as torch expects it: strides of its own, arguments and views of them as such, results that show one memory in one
memory, everything else made by the program, dense, in the order in which it lies in memory."""
import collections

import torch

from .. import _ops
from . import _private, _symbols
from ._rows import stores
from ._shown import Argument, Part, Shown, is_static, viewed
from .aten.views import is_dense, lies_dense, order_of

_op = _ops.functions


# ---- ways from a result of the program to torch's ----

class Computed:
    """A result of the program: its dims permuted, and repeated where torch's strides are 0, or copied where they leave gaps; the strides
    of dims of size 1 are torch's, too. What a backward alone is given may lie as it likes."""

    def __init__(self, node, visible):
        self.node, self.at = node, None
        fake = node.meta.get("val")
        self.fake = fake if isinstance(fake, torch.Tensor) else None
        self.order = self.repeated = self.back = self.strides = None
        self.varies = self.copied = False
        self.is_complex = self.fake is not None and self.fake.dtype.is_complex
        if visible and self.fake is not None and self.fake.numel() != 0:
            self._layout(self.fake)

    def _layout(self, fake):
        sizes, strides = list(fake.shape), list(fake.stride())
        if is_static(fake):
            self.repeated = [d for d in range(fake.ndim) if strides[d] == 0 and sizes[d] > 1]
            sizes = [1 if d in self.repeated else size for d, size in enumerate(sizes)]
        order = order_of([0 if size == 1 else stride for size, stride in zip(sizes, strides)], sizes)
        own = [d for d in order if sizes[d] != 1]
        if own != sorted(own):
            self.order, self.back = order, sorted(range(len(order)), key=order.__getitem__)
        sizes, strides = [_private.size_hint(one) for one in sizes], [_private.size_hint(one) for one in strides]
        self.copied = not is_dense([sizes[d] for d in order], [strides[d] for d in order])
        if self.copied or not self.repeated and self._lie(sizes) != strides:
            self.strides, self.varies = fake.stride(), not is_static(fake)

    def _lie(self, sizes):
        """The strides of what the program makes."""
        lies, step = [0] * len(sizes), 1
        for d in reversed(self.order or range(len(sizes))):
            lies[d], step = step, step * sizes[d]
        return lies

    def laid(self, sizes, arguments):
        """The sizes and strides of a call where eager's are others than those of what the program makes; None: they are not."""
        if self.strides is None:
            return None
        if not self.varies:
            return self.fake.shape, self.strides
        return [[sizes.count(_symbols.expression(one), arguments) for one in list_] for list_ in (self.fake.shape, self.strides)]

    def recorded(self, value):
        """What the program returns."""
        if value is None and self.fake is not None:
            raise NotImplementedError(f"{self.node.args[0]}: its result {self.node.args[1]} is not given: it serves a backward "
                                      "that the library lacks")
        if isinstance(value, _symbols.Real):
            return float(value)
        for dim in self.repeated or ():
            value = _op["slice"](value, dim, 0, 1)
        return value if self.order is None else _op["permute"](value, self.order + [len(self.order)] * self.is_complex)

    def is_plain(self):
        return self.back is None and not self.repeated and self.strides is None and not self.is_complex

    def given(self, made, laid=None):
        """What torch gets."""
        if self.is_complex:
            made = torch.view_as_complex(made)
        if self.back is not None:
            made = made.permute(self.back)
        if self.repeated:
            made = made.expand(self.fake.shape)
        if laid is None:
            return made
        return made.as_strided(*laid) if not self.copied and _lies_as(made, laid[1]) else _copied(made, *laid)


def _lies_as(made, strides):
    """Whether its strides are these, but in dims of size 1, where they reach nothing. What was made op by op may be a view that is not."""
    return all(own == step or size == 1 for size, own, step in zip(made.shape, made.stride(), strides))


def _copied(made, sizes, strides):
    """What was made, in memory with such strides: where they repeat an element it is stored once."""
    copy, once = torch.empty_strided(sizes, strides, dtype=made.dtype, device=made.device), tuple(slice(0, 1 if step == 0 else None) for step in strides)
    copy[once].copy_(made[once])
    return copy


class Count:
    """A size, of those of the arguments."""

    def __init__(self, sizes, value):
        self.sizes, self.expression = sizes, _symbols.expression(value)

    def of(self, arguments):
        return self.sizes.count(self.expression, arguments)


class Results:
    """The results of a graph: which of them the program makes, and how each becomes what torch gets. `visible`: how many are the user's; None:
    all. `shares`: whether those are in one memory that are so in eager. `aliases`: the numbers of those that torch shows anew in the memory
    of an argument, by where this one lies in its own. `recorded`: whether autograd takes the results, each for a tensor of its own."""

    def __init__(self, graph, inputs, sizes, visible, shares=True, aliases=(), recorded=False):
        output = next(node for node in reversed(graph.nodes) if node.op == "output")
        self.inputs, self.sizes, self.made, self.aliases, self.recorded = inputs, sizes, {}, aliases, recorded
        self.stored = {node.args[1]: node.args[0] for node in stores(graph)}
        self.written = set(self.stored.values())
        nodes = [_private.token_of(node) if isinstance(node, torch.fx.Node) else node for node in output.args[0]]
        self.users = len(nodes) if visible is None else visible
        self.parts = self._parts(nodes[:self.users], aliases) if shares else {}
        self.places = [self._place(at, node) for at, node in enumerate(nodes)]
        self.computed = list(self.made.values())
        for at, computed in enumerate(self.computed):
            computed.at = at
        self.numbers = self._numbers()
        self.otherwise = [computed for computed in self.computed if computed.strides is not None]
        self.shown = [(i, place) for i, place in enumerate(self.places) if isinstance(place, (Argument, Count, Part))]
        plain = all(isinstance(place, Computed) and place.is_plain() for place in self.places)
        self.all_plain = plain and len(self.made) == len(self.places)

    def _is_argument(self, node):
        return node.op == "placeholder" and node not in self.written

    def _parts(self, nodes, aliases):
        """{number of a result: (the tensor whose memory it shows, the views that lead there, whether it is the first that is that tensor)}"""
        found = {at: viewed(node) for at, node in enumerate(nodes) if isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor)}
        found = {at: (root, way) for at, (root, way) in found.items() if not self._is_argument(root) and isinstance(root.meta.get("val"), torch.Tensor)
                 and not (at in aliases and self._shows_stored(root, way))}
        users, whole = collections.Counter(root for root, _ in found.values()), set()
        parts = {}
        for at, (root, way) in found.items():
            fake = nodes[at].meta["val"]
            if users[root] > 1 or (way and not is_static(fake) and (at in aliases or not lies_dense(fake))):
                parts[at] = root, way, not way and root not in whole
                whole.update([root] if not way else ())
        return parts

    def _shows_stored(self, root, way):
        """Whether it is a view of what an argument holds in the end: torch takes it for one of that argument's memory."""
        return bool(way) and root in self.stored and self.stored[root] in self.inputs

    def _place(self, at, node):
        if not isinstance(node, torch.fx.Node):
            return node
        if isinstance(node.meta.get("val"), torch.SymInt):
            return Count(self.sizes, node.meta["val"])
        if node.op == "placeholder" and node not in self.written:
            return Argument(self.inputs.index(node))
        if at in self.parts:
            root, way, first = self.parts[at]
            return Part(self._computed(root, True), way, self.sizes, first, self.recorded)
        root, way = viewed(node)
        if self._is_argument(root) and isinstance(root.meta.get("val"), torch.Tensor):
            return Shown(self.inputs.index(root), root, way, self.sizes)
        if at in self.aliases and self._shows_stored(root, way):
            return Shown(self.inputs.index(self.stored[root]), self.stored[root], way, self.sizes)
        return self._computed(node, at < self.users)

    def _computed(self, node, visible):
        if node not in self.made:
            self.made[node] = Computed(node, visible)
        return self.made[node]

    def of(self, values):
        """The results of the program, from the values of all nodes."""
        return tuple(computed.recorded(values[computed.node]) for computed in self.computed)

    def _numbers(self):
        """Of each result its number among the program's, or ~i for argument i, as an Exchange's function takes them; None: some are
        neither."""
        if not all(isinstance(place, Computed) and place.is_plain() or type(place) is Argument for place in self.places):
            return None
        return tuple(place.at if isinstance(place, Computed) else ~place.at for place in self.places)

    def keep(self, arguments):
        """What of the arguments is given back, or says where a part of a result lies; the list of them may then be emptied."""
        kept = {i: place.of(arguments) for i, place in self.shown}
        kept.update((~computed.at, computed.laid(self.sizes, arguments)) for computed in self.otherwise)
        return kept

    def given(self, made, kept):
        """What torch gets for what the program made."""
        if self.all_plain:
            return made
        whole = [computed.given(one, kept.get(~computed.at)) for computed, one in zip(self.computed, made)]

        def result(i, place):
            if isinstance(place, Part):
                return place.given(whole[place.whole.at], kept[i])
            return kept[i] if i in kept else whole[place.at] if isinstance(place, Computed) else place
        return [result(i, place) for i, place in enumerate(self.places)]
