"""What the package takes of torch's private interfaces, all of it, so that a new version of torch is met in one file."""
import contextlib
import functools
import importlib.metadata
import operator
import sys
import threading

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._dynamo import compiled_autograd
from torch._dynamo.backends import registry
from torch._dynamo.eval_frame import _debug_get_cache_entry_list, innermost_fn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config as functorch_config
from torch._functorch._aot_autograd.schemas import PlainTensorMeta
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext
from torch.fx import _symbolic_trace
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import _disable_current_modes, is_traceable_wrapper_subclass
from torch.utils._pytree import tree_leaves

from . import _rows

BACKEND, GROUP = "thunder", "torch_dynamo_backends"

LIBRARY = "libtorch_cpu.so"  # links to the OpenMP runtime of torch's loops

_READ = ("2.11", "2.15")  # versions of torch

_OWN_USES = 2  # of a tensor in a list, and of its storage: with whoever asks

SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)

innermost = innermost_fn  # of what Dynamo and AOTAutograd wrap
without_modes = _disable_current_modes


_tracing = set()  # threads in which AOTAutograd traces a graph for us


def _is_fx_symbolic_tracing():
    return _symbolic_trace._is_fx_tracing_flag and not torch.compiler.is_compiling() and (not _tracing or threading.get_ident() in _tracing)


@contextlib.contextmanager
def _noted_as_tracing():
    own = {threading.get_ident()} - _tracing
    _tracing.update(own)
    try:
        yield
    finally:
        _tracing.difference_update(own)


def tell_threads_apart():
    """A call of a compiled function is an error while make_fx traces, which torch notes for all threads at once: so a thread's first call
    failed those of others. From now on what is traced for us is known to its own thread alone."""
    _symbolic_trace.is_fx_symbolic_tracing = functools.wraps(_symbolic_trace.is_fx_symbolic_tracing)(_is_fx_symbolic_tracing)


def register(backend):
    """Makes backend="thunder" known, unless an installed entry point does that when it is first asked for."""
    if not importlib.metadata.entry_points(group=GROUP, name=BACKEND) and BACKEND not in registry._COMPILER_FNS:
        registry.register_backend(backend, name=BACKEND)


@functools.cache
def decompositions():
    """{op: how it is written in others}, of what stays no whole."""
    whole = {op: made for op, made in core_aten_decompositions().items() if not _rows.has(op)}
    theirs, ours = _rows.in_parts()
    return {**whole, **get_decompositions(theirs), **ours}


def partition(joint, inputs, **named):
    """torch's smallest cut of a joint graph, in which no detach() stands any more: those say something to autograd alone, which is
    done, and are taken for what no kernel computes."""
    for node in joint.graph.nodes:
        if node.op == "call_function" and _rows.find(node.target).ends_gradient:
            node.replace_all_uses_with(node.args[0])
            joint.graph.erase_node(node)
    return min_cut_rematerialization_partition(joint, inputs, **named)


def inductor(function, inputs):
    """What Inductor makes of a function of tensors such as these, without gradients."""
    from torch._inductor.compile_fx import compile_fx
    with torch.no_grad(), without_modes():
        return compile_fx(make_fx(function)(*inputs), list(inputs))


def wraps(graph):
    """Whether tensors that hold others (DTensor, jagged ones) are among what a graph of Dynamo's takes or computes. The record of
    AOTAutograd's wrapper is of the tensors inside, as many as those where each holds one."""
    values = (node.meta.get("example_value", node.meta.get("val")) for node in graph.graph.nodes)
    return any(is_traceable_wrapper_subclass(leaf) for value in values for leaf in tree_leaves(value))


def has_nothing_to_do(facts, fakes, inputs):
    """Whether AOTAutograd's wrapper of a graph does nothing but call it: by its record, for the versions whose wrapper has been read."""
    if torch.__version__.partition("+")[0].rpartition(".")[0] not in _READ or functorch_config.debug_assert:
        return False
    kinds = [type(one) for one in (*facts.subclass_inp_meta, *facts.subclass_fw_graph_out_meta, *facts.subclass_tangent_meta)]
    counts = (facts.num_mutated_inp_runtime_indices, facts.num_mutated_graph_handled_indices, facts.num_outputs_aliased,
              facts.num_intermediate_bases, facts.num_backward_tokens, facts.num_graphsafe_rng_states, len(facts.tokens),
              facts.num_symints_saved_for_bw or 0, facts.num_tensors_saved_with_no_vc_check or 0, facts.num_opaque_objects_saved_for_bw or 0)
    plain = all(kind is PlainTensorMeta for kind in kinds) and not facts.is_rng_op_functionalized and facts.grad_enabled_mutation is None
    # Since 2.15: views made without gradients have none though they require them, and collective ops are waited for.
    plain = plain and not getattr(facts, "act_input_paths", ()) and all(
        getattr(info, "requires_grad_for_backward", info.requires_grad) == info.requires_grad for info in facts.output_info)
    tensors = len(fakes) == len(inputs) and all(isinstance(one, torch.Tensor) and not is_symbolic(one.shape) for one in fakes)
    return plain and tensors and not any(counts)


def around():
    """Whether gradients are recorded now, and whether something is that AOTAutograd's wrapper would turn off or see to."""
    return torch.is_grad_enabled(), torch._C._is_any_autocast_enabled() or compiled_autograd.compiled_autograd_enabled


def static(inputs):
    """Parameters and buffers among a graph's inputs, by their numbers."""
    return {i: one for i, one in enumerate(inputs) if getattr(one, "_dynamo_static_input_type", None) and not is_symbolic(one.shape)}


def _aliases(facts):
    """The numbers of the results of a graph that AOTAutograd's wrapper makes anew in the memory of an argument or of another result."""
    before = len(facts.tokens) + facts.num_mutated_inp_runtime_indices
    return {before + at for at, info in enumerate(facts.output_info) if info.output_type.name.startswith("alias_of")}


def compile_graph(graph, inputs, compiler, parts, whole=False, cut=partition):
    """A function of what Dynamo captured: AOTAutograd's functional graphs of forward and backward, which `cut` makes of a joint one, by
    `compiler`. whole: nothing is decomposed. That of a forward is told how many of its results are the user's (visible=), of a backward the
    numbers of its arguments that no argument or result of the function shows (donated=). `parts` is told what became of them."""
    donated = []

    def forward(module, fakes):
        facts = TracingContext.get().fw_metadata
        donated[:] = facts.bw_donated_idxs or ()
        made = compiler(module, fakes, visible=facts.num_forward, aliases=_aliases(facts))
        parts.noted(made, facts, fakes, True)
        return made

    def backward(module, fakes):
        made = compiler(module, fakes, donated=tuple(donated))
        parts.noted_backward(made, fakes)
        return made

    def inference(module, fakes):
        facts = TracingContext.get().fw_metadata
        made = compiler(module, fakes, frozen=static(inputs) if len(fakes) == len(inputs) else None, aliases=_aliases(facts))
        parts.noted(made, facts, fakes, False)
        return made
    made = aot_autograd(fw_compiler=forward, bw_compiler=backward, inference_compiler=inference, decompositions={} if whole else decompositions(),
                        partition_fn=cut, keep_inference_input_mutations=True)
    with _noted_as_tracing():
        function = made(graph, inputs)
    inputs = None  # of the first call: the compilers live as long as the function, and parameters need not
    return function


def taken(arguments):
    """A list's items; the list is empty then."""
    items = list(arguments)
    arguments.clear()
    return items


def break_behind(graph):
    """(where, why) Dynamo ended a graph before the function did; None: it did not."""
    reason = getattr(graph, "compile_subgraph_reason", None)
    if reason is None or not reason.graph_break:
        return None
    where = f"{reason.user_stack[-1].filename}:{reason.user_stack[-1].lineno}" if reason.user_stack else ""
    return where, reason.reason.partition("\n")[0]


def made_of(function):
    """What the backend returned for the graphs of a function or module that torch.compile returned: what Dynamo's cache holds of its
    code, and of what goes on behind a break."""
    module = getattr(function, "_orig_mod", None)
    todo = [innermost_fn(function if module is None else function.forward)]
    if module is not None:
        todo.append(type(module).forward)
    found, seen = [], set()
    while todo:
        one = todo.pop()
        code, names = getattr(one, "__code__", None), getattr(one, "__globals__", {})
        if code is None or code in seen:
            continue
        seen.add(code)
        for entry in reversed(_debug_get_cache_entry_list(code)):
            for name in entry.code.co_names:
                if name.startswith("__compiled_fn") and name in names:
                    found.append(innermost_fn(names[name]))
                elif name.startswith("__resume_at") and name in names:
                    todo.append(names[name])
    return found


def cuda_devices(inputs):
    """The numbers of the CUDA devices that inputs are on."""
    return {one.device.index for one in inputs if isinstance(one, torch.Tensor) and one.device.type == "cuda"}


def bytes_of(fake):
    """Of a dense tensor when the graph was captured; 0 of a number."""
    return size_hint(fake.numel()) * fake.element_size() if isinstance(fake, torch.Tensor) else 0


def are_ours(arguments, numbers):
    """Whether a backward that runs now is the last to have these of its arguments: its graph is not kept, and nobody else has their
    memory."""
    if torch._C._autograd._get_current_graph_task_keep_graph():
        return False
    return all(sys.getrefcount(arguments[i]) <= _OWN_USES and
               torch._C._storage_Use_Count(arguments[i].untyped_storage()._cdata) <= _OWN_USES for i in numbers)


def in_order(node):
    """The op that a node runs in an order with others of effects, of which torch makes a chain of tokens; None: it is no such node."""
    return node.args[1] if node.target is torch.ops.higher_order.with_effects else None


def token_of(node):
    """The token that such a chain began with, for one that it gives: tokens are nothing when a graph runs. Any other node as it is."""
    while node.target is operator.getitem and in_order(node.args[0]) is not None and node.args[1] == 0:
        node = node.args[0].args[0]
    return node


def boxed(function):
    """Says that the function takes its arguments as one list, which it empties."""
    function._boxed_call = True
    return function


def size_hint(size):
    """The number that a size was when the graph was captured; of a plain size that size."""
    return size if isinstance(size, int) else size.node.hint


def is_known(sizes):
    """Whether none of these depends on the values of tensors."""
    return all(isinstance(size, int) or size.node.has_hint() for size in sizes)


def is_symbolic(sizes):
    """Whether one of these stands for any number."""
    return any(isinstance(size, torch.SymInt) for size in sizes)
