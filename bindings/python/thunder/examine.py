"""What the library makes of a function or module of PyTorch's, before it is compiled for good."""


def examine(function, *args, **kwargs):
    """Text: how many ops the function has for these arguments, and which of them would run by PyTorch, and why. The function runs."""
    import torch

    from . import torch as bridge
    compiled = torch.compile(function, backend="thunder")
    compiled(*args, **kwargs)
    graphs = [program.__wrapped__.__self__ for program in bridge.programs(compiled)]
    every = {str(node.target) for graph in graphs for node, call in graph.nodes if call}
    theirs = {str(node.target) for graph in graphs for node in graph.calls}
    said = f"{len(every)} ops, of which {len(every - theirs)} run by the library and {len(theirs)} by PyTorch"
    return "\n".join([said, bridge.explain(compiled)])
