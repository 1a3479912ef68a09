"""One entry of op_db: its samples run by PyTorch and by ours, with gradients."""
import random

import numpy
import torch
from torch.utils._pytree import tree_map

import calls
import compare
import thunder as th
from calls import Answering, Missing, NotOurs

DTYPES = (torch.float32, torch.int64, torch.bool, torch.float64, torch.bfloat16)
GRADIENTS = (torch.float32, torch.float64)
_WRITES = ("normal.in_place", "cauchy", "exponential", "geometric", "log_normal", "uniform")  # into the sample: into a copy of it


def full_name(entry):
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name


def draw(entry, dtype):
    """The samples of a dtype, the same ones each time; those for gradients where it has some."""
    for seed in (torch.manual_seed, random.seed, numpy.random.seed):
        seed(0)
    wants = entry.supports_autograd and dtype in GRADIENTS and dtype in entry.supported_backward_dtypes("cpu")
    return wants, list(entry.sample_inputs("cpu", dtype, requires_grad=wants))


def dtypes_of(entry):
    return [dtype for dtype in DTYPES if entry.supports_dtype(dtype, "cpu")]


def _call(entry, sample):
    first = sample.input
    if full_name(entry) in _WRITES:
        with torch._C.DisableTorchFunction():
            first = first.detach().clone()
    return entry.op(first, *sample.args, **sample.kwargs)


def _ours(entry, sample, known, process=False):
    with Answering(known):
        made = _call(entry, sample)
        return sample.output_process_fn_grad(made) if process else calls.released(made)


def _inputs(sample):
    found = {}
    for leaf in compare.leaves([sample.input, list(sample.args), sample.kwargs]):
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
            found[id(leaf)] = leaf
    return list(found.values())


def _wide(sample):
    """The sample in float64, for PyTorch to say what is exact; None where it has no narrower reals."""
    narrow = [leaf for leaf in compare.leaves([sample.input, list(sample.args), sample.kwargs]) if isinstance(leaf, torch.Tensor)
              and leaf.is_floating_point() and leaf.dtype is not torch.float64]
    if not narrow:
        return None

    def widen(leaf):
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
            return leaf.detach().double().requires_grad_(leaf.requires_grad)
        return torch.float64 if leaf in (torch.float32, torch.bfloat16, torch.float16) else leaf
    made = type(sample)(tree_map(widen, sample.input), args=tree_map(widen, sample.args), kwargs=tree_map(widen, sample.kwargs))
    made.output_process_fn_grad = sample.output_process_fn_grad
    return made


def _exact(compute, sample):
    """compute() of the sample in float64; None where there is no such thing."""
    try:
        wide = _wide(sample)
        return None if wide is None else compute(wide)
    except Exception:  # PyTorch refuses some mixtures of dtypes that only come about here
        return None


# ---- gradients ----

def _real_leaves(tree):
    return [leaf for leaf in compare.leaves(tree) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]


def _cotangents(leaves):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(leaf.shape, generator=generator, dtype=torch.float64).to(leaf.dtype) for leaf in leaves]


def _their_gradients(entry, sample):
    """(positions of the results that have a gradient, cotangents, gradients); None where PyTorch takes none of this sample."""
    inputs = _inputs(sample)
    made = compare.leaves(sample.output_process_fn_grad(_call(entry, sample)))
    positions = [i for i, leaf in enumerate(made) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not inputs or not positions:
        return None
    results = [made[i] for i in positions]
    if any(leaf.is_complex() for leaf in results):
        raise NotOurs("complex numbers and 8-bit floats are not here")
    cotangents = _cotangents(results)
    try:
        gradients = torch.autograd.grad(results, inputs, cotangents, allow_unused=True)
    except RuntimeError:  # PyTorch has no gradient of this sample
        return None
    return positions, cotangents, [torch.zeros_like(x) if g is None else g for g, x in zip(gradients, inputs)]


def _our_gradients(entry, sample, positions, cotangents):
    known = {}
    with th.tape():
        made = compare.leaves(calls.released(_ours(entry, sample, known, process=True)))
        parts = [(made[i] * th.from_dlpack(cotangent)).sum() for i, cotangent in zip(positions, cotangents)]
        loss = sum(parts[1:], parts[0])
        inputs = _inputs(sample)
        reached = [x for x in inputs if id(x) in known]
        gradients = dict(zip(map(id, reached), th.grad_of(loss, [known[id(x)][0] for x in reached]) if reached else []))
    return [gradients.get(id(x)) for x in inputs]


def _compare_gradients(entry, sample):
    theirs = _their_gradients(entry, sample)
    if theirs is None:
        return False
    positions, cotangents, wanted = theirs
    ours = _our_gradients(entry, sample, positions, cotangents)
    ours = [th.zeros(list(w.shape), dtype=getattr(th, calls.dtype_name(w.dtype))) if g is None else g for g, w in zip(ours, wanted)]
    try:
        compare.results(ours, wanted)
    except compare.Differs:
        exact = _exact(lambda wide: _their_gradients(entry, wide)[2], sample)
        compare.results(ours, wanted, exact)
    return True


# ---- a sample, and an entry ----

def _compare_forward(entry, sample, values):
    theirs = _call(entry, sample)
    if any(isinstance(leaf, torch.Tensor) and (leaf.is_complex() or leaf.layout is not torch.strided) for leaf in compare.leaves(theirs)):
        raise NotOurs("complex numbers and 8-bit floats are not here")
    ours = _ours(entry, sample, {})
    try:
        compare.results(ours, theirs, values=values)
    except compare.Differs:
        compare.results(ours, theirs, _exact(lambda wide: _call(entry, wide), sample), values)


def _outcome(work):
    """(what, text): "equal", "none" for nothing to compare, "not ours", "refused" or "differ", with what was said."""
    try:
        return ("none" if work() is False else "equal"), ""
    except NotOurs as error:
        return "not ours", str(error)
    except compare.Differs as error:
        return "differ", str(error)
    except (Missing, th.Error, TypeError, ValueError, IndexError, AttributeError, KeyError, RuntimeError, OverflowError,
            NotImplementedError, AssertionError) as error:
        return "refused", f"{type(error).__name__}: {error}".splitlines()[0]


def _torch_takes(entry, sample):
    try:
        _call(entry, sample)
        return True
    except Exception:
        return False


def run_sample(entry, sample, wants, values):
    """(forward, gradient): outcomes; None where PyTorch itself refuses the sample, or there is no gradient to take."""
    forward = _outcome(lambda: _compare_forward(entry, sample, values))
    if forward[0] == "refused" and not _torch_takes(entry, sample):
        return None, None
    gradient = None
    if wants and values and forward[0] != "not ours":
        gradient = _outcome(lambda: _compare_gradients(entry, sample))
        gradient = None if gradient[0] == "none" else gradient
    return forward, gradient


def run_entry(entry, dtypes, values, only=None):
    """Rows {dtype, sample, part, what, text} of every sample that was tried; `only` is the number of one."""
    rows = []
    for dtype in dtypes:
        wants, samples = draw(entry, dtype)
        for number, sample in enumerate(samples):
            if only is not None and number != only:
                continue
            for part, outcome in zip(("forward", "gradient"), run_sample(entry, sample, wants, values)):
                if outcome is not None:
                    rows.append({"dtype": calls.dtype_name(dtype), "sample": number, "part": part, "what": outcome[0],
                                 "text": outcome[1]})
    return rows
