"""What a graph returns, as torch expects it: strides of its own, arguments and views of them as such, everything else made by the
program, dense, in the order in which it lies in memory."""
import torch

from .. import _ops
from . import _private, _symbols
from .aten.views import is_dense, order_of

_op = _ops.functions
VIEWS = {f"aten.{name}" for name in ("view", "_unsafe_view", "transpose", "t", "permute", "expand", "squeeze", "unsqueeze",
                                      "slice", "select", "detach", "alias", "as_strided", "diagonal", "unfold")}


def _viewed(node):
    """The input that a node shows a part of, and the views on the way there; None: it is computed."""
    way = []
    while node.op == "call_function":
        if str(node.target).rpartition(".")[0] not in VIEWS:
            return None, way
        way.insert(0, node)
        node = node.args[0]
    return (node if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor) else None), way


def _static(fake):
    return not _private.is_symbolic((*fake.shape, *fake.stride(), fake.storage_offset()))


# ---- ways from a result of the program to torch's ----

class Computed:
    """A result of the program: its dims permuted, and repeated where torch's strides are 0, or copied where they leave gaps. What a
    backward alone is given may lie as it likes."""

    def __init__(self, node, visible):
        self.node, self.at = node, None
        fake = node.meta.get("val")
        self.fake = fake if isinstance(fake, torch.Tensor) else None
        self.order = self.repeated = self.back = self.gaps = None
        self.is_complex = self.fake is not None and self.fake.dtype.is_complex
        if visible and self.fake is not None and self.fake.numel() != 0 and not self.is_complex:
            self._layout(self.fake)

    def _layout(self, fake):
        sizes, strides = list(fake.shape), list(fake.stride())
        if _static(fake):
            self.repeated = [d for d in range(fake.ndim) if strides[d] == 0 and sizes[d] > 1]
            sizes = [1 if d in self.repeated else size for d, size in enumerate(sizes)]
        order = order_of([0 if size == 1 else stride for size, stride in zip(sizes, strides)], sizes)
        own = [d for d in order if sizes[d] != 1]
        if own != sorted(own):
            self.order, self.back = order, sorted(range(len(order)), key=order.__getitem__)
        if _static(fake) and not is_dense([sizes[d] for d in order], [strides[d] for d in order]):
            self.gaps = (tuple(fake.shape), tuple(fake.stride()))

    def recorded(self, value):
        """What the program returns."""
        if value is None and self.fake is not None:
            raise NotImplementedError(f"{self.node.args[0]}: its result {self.node.args[1]} is not given: it serves a backward "
                                      "that the library lacks")
        if isinstance(value, _symbols.Real):
            return float(value)
        for dim in self.repeated or ():
            value = _op["slice"](value, dim, 0, 1)
        return value if self.order is None else _op["permute"](value, self.order)

    def is_plain(self):
        return self.back is None and not self.repeated and self.gaps is None and not self.is_complex

    def given(self, made):
        """What torch gets."""
        if self.is_complex:
            return torch.view_as_complex(made)
        if self.back is not None:
            made = made.permute(self.back)
        if self.repeated:
            made = made.expand(self.fake.shape)
        if self.gaps is None:
            return made
        return torch.empty_strided(*self.gaps, dtype=made.dtype, device=made.device).copy_(made)


class Argument:
    """An argument, which is given back as it is."""

    def __init__(self, at):
        self.at = at

    def of(self, arguments):
        return self.given(arguments[self.at])

    def given(self, argument):
        return argument


class Count:
    """A size, of those of the arguments."""

    def __init__(self, sizes, value):
        self.sizes, self.expression = sizes, _symbols.expression(value)

    def of(self, arguments):
        return self.sizes.count(self.expression, arguments)


class Shown(Argument):
    """A view of an argument, which nothing computes: at once where the argument lies as it did, else by the views that led there."""

    def __init__(self, at, root, way):
        super().__init__(at)
        fake, whole = way[-1].meta["val"], root.meta["val"]
        self.way, self.expected = [(node.target, node.args[1:], node.kwargs) for node in way], whole.stride()
        self.size, self.stride, self.start = fake.shape, fake.stride(), fake.storage_offset() - whole.storage_offset()

    def given(self, argument):
        if argument.stride() == self.expected:
            return argument.as_strided(self.size, self.stride, argument.storage_offset() + self.start)
        for view, args, named in self.way:
            argument = view(argument, *args, **named)
        return argument


class Results:
    """The results of a graph: which of them the program makes, and how each becomes what torch gets."""

    def __init__(self, graph, inputs, sizes, visible):
        output = next(node for node in reversed(graph.nodes) if node.op == "output")
        written = {node.args[0] for node in graph.nodes if node.op == "call_function" and str(node.target) == "aten.copy_.default"}
        self.places, made = [], {}
        for at, node in enumerate(output.args[0]):
            self.places.append(self._place(node, inputs, sizes, written, made, visible is None or at < visible))
        self.computed = list(made.values())
        for at, computed in enumerate(self.computed):
            computed.at = at
        self.numbers = self._numbers()
        self.shown = [(i, place) for i, place in enumerate(self.places) if isinstance(place, (Argument, Count))]
        plain = all(isinstance(place, Computed) and place.is_plain() for place in self.places)
        self.all_plain = plain and len(made) == len(self.places)

    @staticmethod
    def _place(node, inputs, sizes, written, made, visible):
        if not isinstance(node, torch.fx.Node):
            return node
        if isinstance(node.meta.get("val"), torch.SymInt):
            return Count(sizes, node.meta["val"])
        node = _private.token_of(node)
        if node.op == "placeholder" and node not in written:
            return Argument(inputs.index(node))
        root, way = _viewed(node)
        if root is not None and root not in written and _static(node.meta["val"]) and _static(root.meta["val"]):
            return Shown(inputs.index(root), root, way)
        if node not in made:
            made[node] = Computed(node, visible)
        return made[node]

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
        """What of the arguments is given back; the list of them may then be emptied."""
        return {i: place.of(arguments) for i, place in self.shown}

    def given(self, made, kept):
        """What torch gets for what the program made."""
        if self.all_plain:
            return made
        return [kept[i] if i in kept else place.given(made[place.at]) if isinstance(place, Computed) else place
                for i, place in enumerate(self.places)]

