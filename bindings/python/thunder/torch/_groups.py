"""Products of rows with gathered matrices, as in a mixture of experts: they become products of groups, so that no matrix is gathered, and of
their gradients none is made for each row."""
import operator

import torch

from . import _private
from .aten.nodes import add_node as _add

_aten = torch.ops.aten
_TURNS = {_aten.transpose.int: ((1, 2), (2, 1), (-1, -2), (-2, -1)), _aten.permute.default: (([0, 2, 1],),)}
_ZEROS = (_aten.new_zeros.default, _aten.zeros.default, _aten.zeros_like.default)


def _is_grouped(matrices, places):
    """Whether a vector of places in these matrices, of three dims on the CPU, makes groups of rows."""
    value, index = matrices.meta["val"], places.meta["val"]
    fits = value.ndim == 3 and value.is_floating_point() and value.device.type == "cpu" and index.ndim == 1 and index.dtype is torch.int64
    return fits and not _private.is_symbolic([*value.shape, *index.shape])


def _gathered(node):
    """(matrices, places, whether they are transposed behind it) of an operand that is gathered; else None."""
    turned = isinstance(node, torch.fx.Node) and tuple(node.args[1:]) in _TURNS.get(node.target, ())
    gather = node.args[0] if turned else node
    if not isinstance(gather, torch.fx.Node) or gather.target is not _aten.index.Tensor or len(gather.args[1]) != 1:
        return None
    matrices, (places,) = gather.args
    return (matrices, places, turned) if _is_grouped(matrices, places) else None


class _Groups:
    """Rows in the order of their matrices: (where the groups end, the rows' places in that order, and back), once for each vector of places."""

    def __init__(self, graph):
        self.graph, self.found = graph, {}

    def of(self, places, count, at):
        """at: the node whose line errors name."""
        if (places, count) not in self.found:
            behind = places.next
            while behind.op == "placeholder":
                behind = behind.next
            with self.graph.inserting_before(behind):
                self.found[places, count] = self._sorted(places, count, at)
        return self.found[places, count]

    def _sorted(self, places, count, at):
        def add(target, *args, **named):
            return _add(self.graph, target, args, named, at)

        def order_of(values):
            return add(operator.getitem, add(_aten.sort.stable, values, stable=True), 1)
        numbers = add(_aten.arange.default, count)
        known = add(_aten.index.Tensor, numbers, [places])  # which refuses those that there are not
        below = add(_aten.le.Tensor, add(_aten.unsqueeze.default, known, 0), add(_aten.unsqueeze.default, numbers, 1))
        order = order_of(known)
        return add(_aten.sum.dim_IntList, below, [1]), order, order_of(order)

    def product(self, left, right, ends, *shape):
        """_grouped_mm, whose own rule for types asks for bfloat16."""
        made = self.graph.call_function(_aten._grouped_mm.default, (left, right, ends))
        made.stack_trace = left.stack_trace
        with left.meta["val"].fake_mode:
            made.meta["val"] = left.meta["val"].new_empty(shape)
        return made

    def rows(self, rows, matrices, places, at):
        """rows[i] @ matrices[places[i]]."""
        count, _, width = matrices.meta["val"].shape
        ends, order, back = self.of(places, count, at)
        together = _add(self.graph, _aten.index_select.default, (rows, 0, order), {})
        made = self.product(together, matrices, ends, together.meta["val"].shape[0], width)
        return _add(self.graph, _aten.index_select.default, (made, 0, back), {})

    def sums(self, columns, rows, places, count, at):
        """The sums of columns[i] x rows[i] over those of one place."""
        ends, order, _ = self.of(places, count, at)
        columns, rows = (_add(self.graph, _aten.index_select.default, (one, 0, order), {}) for one in (columns, rows))
        turned = _add(self.graph, _aten.permute.default, (columns, [1, 0]), {})
        return self.product(turned, rows, ends, count, columns.meta["val"].shape[1], rows.meta["val"].shape[1])


def _erase(graph, *nodes):
    """What nobody uses any more of these, and of the operands of their views."""
    for node in nodes:
        if isinstance(node, torch.fx.Node) and node.op == "call_function" and not node.users:
            operands = node.all_input_nodes
            graph.erase_node(node)
            _erase(graph, *operands[:1])


def _replace(graph, node, made):
    made.meta = dict(node.meta)  # with the strides that torch's result has
    operands = node.args
    node.replace_all_uses_with(made)
    graph.erase_node(node)
    _erase(graph, *operands)


def _group_product(graph, groups, node):
    left, right = node.args
    behind = _gathered(right) if left.meta["val"].shape[1] == 1 else None
    before = _gathered(left) if right.meta["val"].shape[2] == 1 else None
    if not behind and not before:
        return
    matrices, places, turned = behind or before
    with graph.inserting_before(node):
        rows = _add(graph, _aten.squeeze.dim, (left, 1) if behind else (right, 2), {})
        if turned == bool(behind):
            matrices = _add(graph, _aten.permute.default, (matrices, [0, 2, 1]), {})
        made = _add(graph, _aten.unsqueeze.default, (groups.rows(rows, matrices, places, node), 1 if behind else 2), {})
    _replace(graph, node, made)


def _group_sum(graph, groups, node):
    """index_put(zeros, places, products of columns and rows, accumulate=True)."""
    zeros, places, products, *accumulates = node.args
    outer = isinstance(products, torch.fx.Node) and products.target is _aten.bmm.default and products.args[0].meta["val"].shape[2] == 1
    if not outer or accumulates != [True] or len(places) != 1 or places[0] is None or zeros.target not in _ZEROS or not _is_grouped(zeros, places[0]):
        return
    if products.meta["val"].shape != (*places[0].meta["val"].shape, *zeros.meta["val"].shape[1:]):
        return  # they broadcast
    with graph.inserting_before(node):
        columns, rows = (_add(graph, _aten.squeeze.dim, (one, dim), {}) for one, dim in zip(products.args, (2, 1)))
        made = groups.sums(columns, rows, places[0], zeros.meta["val"].shape[0], node)
    _replace(graph, node, made)


def group_rows(graph):
    """A bmm of rows and gathered matrices becomes grouped_mm of the rows sorted by matrix; so does what adds up such matrices' gradients. A
    forward that gathered matrices would keep them all for its backward."""
    groups = _Groups(graph)
    for node in graph.find_nodes(op="call_function", target=_aten.bmm.default):
        _group_product(graph, groups, node)
    for node in graph.find_nodes(op="call_function", target=_aten.index_put.default):
        _group_sum(graph, groups, node)
