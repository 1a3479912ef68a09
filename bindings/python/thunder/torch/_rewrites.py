"""Graphs of ATen ops rewritten before they are replayed."""
import operator

import torch

from . import _private

_aten = torch.ops.aten
_ELEMENTWISE = (_aten.sub.Tensor, _aten.add.Tensor, _aten.mul.Tensor, _aten.div.Tensor, _aten._to_copy.default)


def _add(graph, target, args, named, at=None):
    """A node with the type that torch gives it, and the place of another one, its first argument unless said."""
    node, at = graph.call_function(target, args, named), at or args[0]
    node.stack_trace = at.stack_trace
    value = at.meta["val"]
    with (value[0] if isinstance(value, (tuple, list)) else value).fake_mode:
        node.meta["val"] = target(*torch.fx.map_arg(args, lambda one: one.meta["val"]), **named)
    return node


def _picked(graph, value, dim, index):
    """gather(value, dim, index), of its operands where it is computed element by element."""
    size = value.meta["val"].shape
    if value.op != "call_function" or value.target not in _ELEMENTWISE or "alpha" in value.kwargs:
        return _add(graph, _aten.gather.default, (value, dim, index), {})

    def operand(one):
        if not isinstance(one, torch.fx.Node):
            return one
        shape = one.meta["val"].shape
        if len(shape) < len(size) - dim or shape[dim - len(size)] == 1:
            return one if len(shape) in (0, len(size)) else None
        return _picked(graph, one, dim, index) if shape == size else None
    operands = [operand(one) for one in value.args]
    if any(one is None for one in operands):
        return _add(graph, _aten.gather.default, (value, dim, index), {})
    return _add(graph, value.target, tuple(operands), value.kwargs)


def pick_first(graph):
    """What a loss picks of each row, out of what is computed element by element, is picked of the operands: nobody stores the
    logarithms of all classes for the sake of one."""
    for node in graph.find_nodes(op="call_function", target=_aten.gather.default):
        value, dim, index = node.args[:3]
        size, picked = value.meta["val"].shape, index.meta["val"].shape
        if value.op != "call_function" or value.target not in _ELEMENTWISE or len(size) != len(picked):
            continue
        dim %= len(size)
        if picked[dim] != 1 or any(a != b for d, (a, b) in enumerate(zip(size, picked)) if d != dim):
            continue
        with graph.inserting_before(node):
            made = _picked(graph, value, dim, index)
        made.meta = {**node.meta, "val": made.meta["val"]}
        node.replace_all_uses_with(made)
        graph.erase_node(node)


_VIEWS = (_aten.view.default, _aten.unsqueeze.default)


def _counts(value, behind):
    """How many numbers a value counts from 0 along its dim before the last `behind`, if it does that and nothing else."""
    shape = value.meta["val"].shape
    while value.op == "call_function" and value.target in _VIEWS:
        value = value.args[0]
    counts = value.op == "call_function" and value.target is _aten.arange.default and len(shape) > behind
    return value.args[0] if counts and shape[len(shape) - behind - 1] == value.args[0] == shape.numel() else None


def _is_zero(value):
    return value == 0 if not isinstance(value, torch.fx.Node) else value.target is _aten.scalar_tensor.default and value.args[0] == 0


def sum_of_one(graph):
    """where(numbers == index, one, 0).sum(dim) is `one` where the index is among the numbers: no kernel has to read the row twice."""
    for node in graph.find_nodes(op="call_function", target=_aten.sum.dim_IntList):
        value, dims, keeps = (*node.args, False)[:3]
        if node.kwargs or not keeps or len(dims) != 1 or value.target is not _aten.where.self:
            continue
        (equal, one, other), shape = value.args, list(value.meta["val"].shape)
        dim = dims[0] % len(shape)
        if equal.target is not _aten.eq.Tensor or not _is_zero(other):
            continue
        numbers, index = equal.args
        count = _counts(numbers, len(shape) - dim - 1)
        shape[dim] = 1
        if count is None or shape != list(index.meta["val"].shape) or shape != list(one.meta["val"].shape):
            continue
        with graph.inserting_before(node):
            there = _add(graph, _aten.bitwise_and.Tensor, (_add(graph, _aten.ge.Scalar, (index, 0), {}),
                                                           _add(graph, _aten.lt.Scalar, (index, count), {})), {})
            made = _add(graph, _aten.where.self, (there, one, other), {})
        made.meta = {**node.meta, "val": made.meta["val"]}
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def make_asserts_functional(graph):
    """What is asserted of values, since torch 2.15 also of one_hot's: by the op that gives a result, which a line may have."""
    for node in graph.find_nodes(op="call_function", target=_aten._assert_async.msg):
        condition, message = node.args
        with graph.inserting_before(node):
            _add(graph, _aten._functional_assert_async.msg, (condition, message, condition), {}).stack_trace = node.stack_trace
        graph.erase_node(node)


def _known(node, found):
    """The value of a node that no input takes part in; None: it is another one, or not small. Requires: no modes of torch's."""
    if node not in found:
        found[node] = None
        fake = node.meta.get("val")
        given = [_known(one, found) for one in node.all_input_nodes]
        if node.op == "call_function" and isinstance(fake, torch.Tensor) and isinstance(fake.numel(), int) and fake.numel() <= 1 << 16 and \
                fake.device.type == "cpu" and torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()) and \
                all(one is not None for one in given):
            args, named = torch.fx.map_arg((node.args, node.kwargs), found.__getitem__)
            found[node] = node.target(*args, **named)
    return found[node]


def _taken(graph, value, dims, indices):
    """One index per dim, in order."""
    for dim, index in zip(dims, indices):
        if index.meta["val"].ndim > 1:
            index = _add(graph, _aten.view.default, (index, [-1]), {})
        value = _add(graph, _aten.index_select.default, (value, dim, index), {})
    return value


def take_known_places(graph):
    """interpolate(mode="nearest") arrives as an index by computed positions, one tensor per dim: it becomes one index per dim, which is
    fused."""
    found = {}
    for node in [node for name in (_aten._unsafe_index, _aten.index) for node in graph.find_nodes(op="call_function", target=name.Tensor)]:
        value, indices = node.args
        shape = value.meta["val"].shape
        dims = [dim for dim, index in enumerate(indices) if index is not None]
        if _private.is_symbolic(shape) or 0 in shape or dims != list(range(dims[0], dims[-1] + 1)):
            continue
        known = [_known(indices[dim], found) for dim in dims]
        along = [one is not None and one.dtype is torch.int64 and list(one.shape) == [one.numel()] + [1] * (len(dims) - at - 1) and
                 one.numel() > 0 and bool(one.min() >= 0) for at, one in enumerate(known)]
        if all(along):
            with graph.inserting_before(node):
                made = _taken(graph, value, dims, [indices[dim] for dim in dims])
            made.meta = {**node.meta, "val": made.meta["val"]}
            node.replace_all_uses_with(made)
            graph.erase_node(node)


def _gathered(node):
    """(matrices of three dims, indices) if the operand is gathered on the CPU and has no other user; else None."""
    if not isinstance(node, torch.fx.Node) or node.target is not _aten.index.Tensor or len(node.users) > 1 or len(node.args[1]) != 1:
        return None
    matrices, (places,) = node.args
    value, index = matrices.meta["val"], places.meta["val"]
    fits = value.ndim == 3 and value.is_floating_point() and value.device.type == "cpu" and index.ndim == 1 and index.dtype is torch.int64
    return (matrices, places) if fits and not _private.is_symbolic([*value.shape, *index.shape]) else None


def _sorted(graph, values):
    """The places of a vector's elements in ascending order."""
    both = _add(graph, _aten.sort.stable, (values,), {"stable": True})
    return _add(graph, operator.getitem, (both, 1), {})


def _in_groups(graph, rows, matrices, places):
    """rows[i] @ matrices[places[i]]: sorts rows by matrix, multiplies each group, and restores the order."""
    count, width = matrices.meta["val"].shape[0], matrices.meta["val"].shape[2]
    numbers = _add(graph, _aten.arange.default, (count,), {}, places)
    places = _add(graph, _aten.index.Tensor, (numbers, [places]), {})  # which refuses those that there are not
    below = _add(graph, _aten.le.Tensor, (_add(graph, _aten.unsqueeze.default, (places, 0), {}),
                                          _add(graph, _aten.unsqueeze.default, (numbers, 1), {})), {})
    ends, order = _add(graph, _aten.sum.dim_IntList, (below, [1]), {}), _sorted(graph, places)
    together = _add(graph, _aten.index_select.default, (rows, 0, order), {})
    made = graph.call_function(_aten._grouped_mm.default, (together, matrices, ends))
    made.stack_trace = rows.stack_trace
    with together.meta["val"].fake_mode:
        made.meta["val"] = together.meta["val"].new_empty((together.meta["val"].shape[0], width))
    return _add(graph, _aten.index_select.default, (made, 0, _sorted(graph, order)), {})


def group_rows(graph):
    """A bmm of rows and gathered matrices, as in a mixture of experts, becomes grouped_mm of the rows sorted by matrix; no matrix is
    gathered."""
    for node in graph.find_nodes(op="call_function", target=_aten.bmm.default):
        left, right = node.args
        behind = _gathered(right) if left.meta["val"].shape[1] == 1 else None
        before = _gathered(left) if right.meta["val"].shape[2] == 1 else None
        if not behind and not before:
            continue
        with graph.inserting_before(node):
            if behind:
                made = _in_groups(graph, _add(graph, _aten.squeeze.dim, (left, 1), {}), *behind)
            else:
                turned = _add(graph, _aten.permute.default, (before[0], [0, 2, 1]), {})
                made = _in_groups(graph, _add(graph, _aten.squeeze.dim, (right, 2), {}), turned, before[1])
            made = _add(graph, _aten.unsqueeze.default, (made, 1 if behind else 2), {})
        made.meta = {**node.meta, "val": made.meta["val"]}
        node.replace_all_uses_with(made)
        graph.erase_node(node)
        graph.erase_node(right if behind else left)


def rewrite(graph):
    group_rows(graph)
    pick_first(graph)
    sum_of_one(graph)
    with _private.without_modes():
        take_known_places(graph)
