"""What the package takes of torch's private interfaces, all of it, so that a new version of torch is met in one file."""
import functools
import importlib.metadata

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._dynamo.backends import registry
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.utils._python_dispatch import _disable_current_modes

BACKEND, GROUP = "thunder", "torch_dynamo_backends"

# Of Inductor's, beside the core table: what ours lacks and torch writes in ops that ours has.
_MORE = ("aten.elu", "aten.hardtanh", "aten.linalg_vector_norm", "aten.native_group_norm")

without_modes = _disable_current_modes


def register(backend):
    """Makes backend="thunder" known, unless an installed entry point does that when it is first asked for."""
    if not importlib.metadata.entry_points(group=GROUP, name=BACKEND) and BACKEND not in registry._COMPILER_FNS:
        registry.register_backend(backend, name=BACKEND)


@functools.cache
def decompositions(has):
    """{op: how torch writes it in others}, of what `has(op)` does not say is translated as a whole."""
    return {op: made for op, made in core_aten_decompositions().items() if not has(op)}


def compile_graph(graph, inputs, compiler, has):
    """A function of what Dynamo captured: AOTAutograd's functional graphs of forward and backward, cut by min-cut, by `compiler`."""
    made = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler, decompositions=decompositions(has),
                        partition_fn=min_cut_rematerialization_partition, keep_inference_input_mutations=True)
    return made(graph, inputs)


def boxed(function):
    """Says that the function takes its arguments as one list, which it empties."""
    function._boxed_call = True
    return function


def size_hint(size):
    """The number that a size was when the graph was captured; of a plain size that size."""
    return size if isinstance(size, int) else size.node.hint


def is_symbolic(sizes):
    """Whether one of these stands for any number."""
    return any(isinstance(size, torch.SymInt) for size in sizes)
