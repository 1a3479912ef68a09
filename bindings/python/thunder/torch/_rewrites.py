"""Graphs of ATen ops rewritten before they are replayed."""
import operator

import torch

from . import _groups, _private
from .aten.nodes import add_node as _add
from ._shown import viewed

_aten = torch.ops.aten
_ELEMENTWISE = (_aten.sub.Tensor, _aten.add.Tensor, _aten.mul.Tensor, _aten.div.Tensor, _aten._to_copy.default)


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
        if node.kwargs or not keeps or not dims or len(dims) != 1 or value.target is not _aten.where.self:
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


def _one_hot(index, num_classes=-1):
    """PyTorch's, whose graph no longer checks the classes: what is none of them would be a row of zeros."""
    if num_classes > 0:
        torch._assert_async((index >= 0).all(), "Class values must be non-negative.")
        torch._assert_async((index < num_classes).all(), "Class values must be smaller than num_classes.")
    return torch._C._nn.one_hot(index, num_classes)


def assert_classes(module):
    """Of what Dynamo captured."""
    for node in module.graph.find_nodes(op="call_function", target=torch._C._nn.one_hot):
        node.target = _one_hot
    module.recompile()


def assert_probabilities(graph):
    """What PyTorch checks of the values that it draws by."""
    for target, most, message in ((_aten.bernoulli.default, _aten.le, "Expected p_in >= 0 && p_in <= 1 to be true, but got false."),
                                  (_aten.multinomial.default, _aten.lt, "probability tensor contains either `inf`, `nan` or element < 0")):
        for node in graph.find_nodes(op="call_function", target=target):
            p = node.args[0]
            with graph.inserting_before(node):
                bound = 1 if most is _aten.le else float("inf")
                fits = _add(graph, _aten.bitwise_and.Tensor, (_add(graph, _aten.ge.Scalar, (p, 0), {}), _add(graph, most.Scalar, (p, bound), {})), {})
                fits = _add(graph, _aten.all.default, (fits,), {})
                _add(graph, _aten._functional_assert_async.msg, (fits, message, fits), {}).stack_trace = node.stack_trace


def make_asserts_functional(graph):
    """What is asserted of values, since torch 2.15 also of one_hot's: by the op that gives a result, which a line may have."""
    for node in graph.find_nodes(op="call_function", target=_aten._assert_async.msg):
        condition, message = node.args
        with graph.inserting_before(node):
            _add(graph, _aten._functional_assert_async.msg, (condition, message, condition), {}).stack_trace = node.stack_trace
        graph.erase_node(node)


def read_whole_memory(graph):
    """as_strided reads the memory that a view shows, elements that are none of the view's too: it is read of the tensor where that begins."""
    for node in [node for name in (_aten.as_strided, _aten.as_strided_copy) for node in graph.find_nodes(op="call_function", target=name.default)]:
        view, size, stride, offset = (*node.args, None)[:4]
        root, way = viewed(view)
        shown, offset = view.meta["val"], node.kwargs.get("storage_offset", offset)
        offset = shown.storage_offset() if offset is None else offset
        if way and isinstance(root.meta.get("val"), torch.Tensor) and root.meta["val"].dtype == shown.dtype and not isinstance(offset, torch.SymInt):
            node.args, node.kwargs = (root, size, stride, offset), {}


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


def rewrite(graph):
    _groups.group_rows(graph)
    pick_first(graph)
    sum_of_one(graph)
    with _private.without_modes():
        take_known_places(graph)


_SAVES_STATISTICS = ("aten._native_batch_norm_legit_functional", "aten._batch_norm_with_update_functional", "aten._native_batch_norm_legit",
                     "aten.native_layer_norm", "aten.native_group_norm")


def _save_wide_statistics(graph):
    """The mean and rstd that a norm saves are float32 at least, as eager's are. torch's rule for types says the dtype of the input, and
    gradients by a mean of 16 bits are wrong."""
    for node in graph.nodes:
        if node.op != "call_function" or str(node.target).rpartition(".")[0] not in _SAVES_STATISTICS:
            continue
        values = [one.new_empty(one.shape, dtype=torch.float32) if at in (1, 2) and one.dtype.itemsize < 4 and one.numel() else one
                  for at, one in enumerate(node.meta["val"])]
        node.meta["val"] = tuple(values)
        for user in node.users:
            if user.target is operator.getitem:
                user.meta["val"] = values[user.args[1]]


def partition(joint, inputs, **named):
    """torch's smallest cut of a joint graph that is rewritten before."""
    _groups.group_rows(joint.graph)
    _save_wide_statistics(joint.graph)
    return _private.partition(joint, inputs, **named)
