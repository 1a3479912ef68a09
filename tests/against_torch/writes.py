"""One entry of op_db, each of whose results is written: what PyTorch's inputs and other results hold behind the writes, ours must, op by op
and compiled. So a result is a view where PyTorch's is one, and new memory where that is new."""
import torch
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_map

import calls
import compare
import samples
import thunder as th
from calls import NotOurs

DTYPES = (torch.float32, torch.int64)
COMPILED = (torch.float32,)
_MOST = 8            # samples of one op
_NUMBER = 77         # that no sample holds


def dtypes_of(entry):
    return [dtype for dtype in DTYPES if entry.supports_dtype(dtype, "cpu")]


def _copy(sample):
    """The sample with tensors of its own, of which one that occurs twice is one again."""
    made = {}

    def own(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return made.setdefault(id(leaf), leaf.detach().clone())
    copy = SampleInput(tree_map(own, sample.input), args=tree_map(own, sample.args), kwargs=tree_map(own, sample.kwargs))
    copy.output_process_fn_grad = sample.output_process_fn_grad
    return copy, list(made.values())


def _write(results):
    """Into each result a number of its own."""
    for at, made in enumerate(results):
        made.fill_(True if made.dtype in (torch.bool, th.bool) else _NUMBER + at)


def _theirs(entry, sample):
    """(inputs, results) behind the writes; None where PyTorch refuses them."""
    copy, inputs = _copy(sample)
    results = compare.leaves(samples._call(entry, copy))
    if not results or not inputs or not all(isinstance(made, torch.Tensor) and made.layout is torch.strided and not made.is_complex() for made in results):
        return None
    try:
        _write(results)
    except RuntimeError:  # elements that share a place
        return None
    return inputs, results


def _ours(entry, sample, run):
    copy, inputs = _copy(sample)
    if not all(leaf.dtype in calls._DTYPES and leaf.layout is torch.strided for leaf in inputs):
        raise NotOurs("complex numbers and 8-bit floats are not here")

    def written(*tensors):
        known = {id(leaf): (tensor, leaf) for leaf, tensor in zip(inputs, tensors)}
        results = compare.leaves(calls.released(samples._ours(entry, copy, known)))
        _write(results)
        return results
    return inputs, run(written)(*[th.from_dlpack(leaf) for leaf in inputs])


def _same(entry, sample, run):
    theirs = _theirs(entry, sample)
    if theirs is None:
        return False
    inputs, results = _ours(entry, sample, run)
    for at, (mine, its) in enumerate(zip(inputs, theirs[0])):
        if not _equal(mine, its):
            raise compare.Differs(f"input {at} holds {'what' if _changed(its) else 'none of what'} was written in PyTorch, here {'it does' if _changed(mine) else 'not'}")
    for at, (mine, its) in enumerate(zip(results, theirs[1])):
        if not torch.equal(compare.to_torch(mine).to(its.dtype), its):
            raise compare.Differs(f"result {at} holds something else behind the writes than PyTorch's")
    return True


def _equal(mine, its):
    """What ops wrote themselves, such as running statistics, may be rounded otherwise."""
    return torch.allclose(mine, its, rtol=1e-5, atol=1e-6, equal_nan=True) if its.is_floating_point() else torch.equal(mine, its)


def _changed(tensor):
    return bool((tensor >= _NUMBER).any()) if tensor.dtype is not torch.bool else bool(tensor.all())


def run_entry(entry, dtypes, values, only=None):
    """Rows as of samples.run_entry()."""
    rows = []
    for dtype in dtypes:
        _, given = samples.draw(entry, dtype)
        for number, sample in enumerate(given[:_MOST]):
            if only is not None and number != only or not samples._torch_takes(entry, _copy(sample)[0]):
                continue
            for part, run in (("forward", lambda f: f), *([("compiled forward", th.compile)] if dtype in COMPILED else [])):
                with torch.no_grad():
                    what, text = samples._outcome(lambda: _same(entry, sample, run))
                if what != "none":
                    rows.append({"dtype": calls.dtype_name(dtype), "sample": number, "part": part, "what": what, "text": text})
    return rows
