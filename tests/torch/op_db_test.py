"""PyTorch's own list of ops with its samples: captured as ATen ops, replayed op by op on ours, compared. What the library lacks must be
refused by name; what is taken must agree."""
# covers: bindings/python/thunder/torch/aten/*.py bindings/python/thunder/torch/_rows.py
import unittest
import warnings

import support

if support.HAVE:
    import torch
    from torch._subclasses.functional_tensor import dispatch_functionalize
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils import _pytree

    import thunder
    from thunder.torch import _decide, _graph, _private

# Results that are not determined: memory as it was, signs of vectors. Or an index of bytes, which torch takes in one op.
_FREE = ("empty", "new_empty", "eigh", "svd", "qr", "lu", "gather")
_SAMPLES = 2


def _flat_call(op, sample, places, gradient):
    """The call as a function of its tensors alone, which gives tensors: results, or gradients."""
    leaves, spec = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))

    def call(*given):
        filled = list(leaves)
        if gradient:
            given = [t.detach().requires_grad_(leaves[i].requires_grad) for t, i in zip(given, places)]
        for i, t in zip(places, given):
            filled[i] = t
        value, args, named = _pytree.tree_unflatten(filled, spec)
        made = support.tensors(op.op(value, *args, **named))
        if not gradient:
            return made
        made = [t for t in made if t.requires_grad]
        wanted = [t for t in given if t.requires_grad]
        return [g for g in torch.autograd.grad(made, wanted, [torch.ones_like(t) for t in made], allow_unused=True) if g is not None]
    return leaves, call


def _replayed(module, tensors, seen):
    """What the rows make of a graph, which `seen` gets, or None where it draws."""
    graph = _graph.Graph(module)
    seen.append(graph)
    if graph.draws:
        return None
    tensors = [t.clone() for t in tensors]  # as eager's are, which begin where their memory does
    kept = graph.results.keep(tensors)
    made = graph.replay(*[thunder.from_dlpack(t.clone()) for t in tensors])
    made = [torch.from_dlpack(t) if isinstance(t, thunder.Tensor) else t for t in made]
    graph.results.all_plain = False
    return graph.results.given(made, kept)


def _size(t):
    """The largest of its finite numbers, or 1."""
    finite = t.double()[t.double().isfinite()].abs()
    return max(1.0, finite.max().item()) if finite.numel() else 1.0


def _as_near(call, tensors, want, got):
    """Whether results that are rounded otherwise are as near to those of float64 as twice eager's are."""
    try:
        exact = call(*[t.double() if t.is_floating_point() else t for t in tensors])
    except Exception:  # noqa: BLE001 - an op that has no float64, or not of these arguments
        return False
    if len(exact) != len(want):
        return False
    for a, b, true in zip(want, got, exact):
        if not a.is_floating_point() and torch.equal(a, b):
            continue
        if not a.is_floating_point() or a.shape != true.shape:
            return False
        theirs, ours = [torch.nan_to_num(t.double() - true.double()).norm() for t in (a, b)]
        if ours > 2 * theirs + 1e-6 * torch.nan_to_num(true.double()).norm():
            return False
    return True


def outcome_of(op, sample, gradient, decompositions, seen):
    """ "agrees", "refused" with the reason, "differs" with the distance, or None: torch itself does not capture it."""
    leaves, _ = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    tensors = [leaves[i].detach() for i in places]
    if any(t.is_complex() or t.layout is not torch.strided for t in tensors):
        return None
    _, call = _flat_call(op, sample, places, gradient)
    try:
        want = call(*[t.clone() for t in tensors])
        module = make_fx(dispatch_functionalize(call), decomposition_table=decompositions, tracing_mode="fake")(*[t.clone() for t in tensors])
    except Exception:  # noqa: BLE001 - torch's own refusal, of whatever kind
        return None
    if any(t.is_complex() for t in want):
        return None
    module.graph.eliminate_dead_code()
    try:
        got = _replayed(module, tensors, seen)
    except (_decide.Unsupported, NotImplementedError) as error:
        return f"refused: {error}"
    if got is None:
        return None
    try:
        for a, b in zip(want, got):
            torch.testing.assert_close(b, a, rtol=5e-4, atol=5e-4 * _size(a), equal_nan=True)
    except AssertionError as error:
        return "agrees" if _as_near(call, tensors, want, got) else f"differs: {error}"
    return "agrees"


@support.needs_torch
@support.needs("expecttest")
class OpDb(unittest.TestCase):
    def agree(self, gradient):
        from torch.testing._internal.common_methods_invocations import op_db
        decompositions = _private.decompositions()
        counts, wrong, lacking = {"agrees": 0, "refused": 0}, [], set()
        for op in op_db:
            known = op.supported_backward_dtypes("cpu") if gradient else op.supported_dtypes("cpu")
            if torch.float32 not in known or (gradient and not op.supports_autograd) or any(word in op.name for word in _FREE):
                continue
            samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=gradient))
            for sample in samples[::max(1, len(samples) // _SAMPLES)][:_SAMPLES]:
                outcome = outcome_of(op, sample, gradient, decompositions, [])
                kind = (outcome or "").partition(":")[0]
                if kind in counts:
                    counts[kind] += 1
                if kind == "refused":
                    lacking.add(outcome.split()[1])
                if kind == "differs":
                    wrong.append((op.name, outcome[:200]))
        print(f"{'gradients' if gradient else 'results'}: {counts}; lacking {sorted(lacking)}")
        self.assertEqual(wrong, [])
        self.assertGreater(counts["agrees"], 600)

    def test_results_agree_or_are_refused(self):
        self.agree(False)

    def test_gradients_agree_or_are_refused(self):
        self.agree(True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
