"""Nodes of ATen ops added to a graph."""
import torch


def add_node(graph, target, args, named, at=None):
    """A node with the type that torch gives it, and the place of another one, its first argument unless said."""
    node, at = graph.call_function(target, args, named), at or args[0]
    node.stack_trace = at.stack_trace
    value = at.meta["val"]
    with (value[0] if isinstance(value, (tuple, list)) else value).fake_mode:
        node.meta["val"] = target(*torch.fx.map_arg(args, lambda one: one.meta["val"]), **named)
    return node


def zeros_of(fake):
    """What a node calls for zeros of this type: (target, arguments, named ones)."""
    return torch.ops.aten.full.default, (list(fake.shape), 0), dict(dtype=fake.dtype, device=fake.device, pin_memory=False)


def sum_of(one, other):
    return torch.ops.aten.add.Tensor, (one, other), {}
