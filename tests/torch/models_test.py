"""Sixteen kinds of models, forward and backward: as near to a run in float64 as twice torch's own distance."""
import copy
import functools
import sys
import unittest

import support

if support.HAVE:
    import torch
    from workloads import torch_models


def loss_of(result):
    """A number that depends on every element in another way: the sum of what was normed is the same for all inputs."""
    weights = torch.arange(result.numel(), device=result.device).cos().reshape(result.shape)
    return result if result.ndim == 0 else (result * weights.to(result.dtype)).sum()


def run(model, inputs, function=None):
    """Floating results and gradients, in float64, by name."""
    model.zero_grad(set_to_none=True)
    out = (model if function is None else function)(**inputs)
    leaves = [t for t in support.tensors(dict(out) if hasattr(out, "keys") else out) if t.is_floating_point()]
    loss = loss_of(leaves[0])
    if loss.requires_grad:
        loss.backward()
    found = {f"result {i}": t.detach().double() for i, t in enumerate(leaves)}
    found.update((name, p.grad.double()) for name, p in model.named_parameters() if p.grad is not None)
    return found


def as_double(inputs):
    return {name: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for name, v in inputs.items()}


def too_far(make, seed, training, backend="thunder", oracle=None):
    """What of a model that a backend compiles is further from float64 than it may be, as (name, distance, allowed). oracle: the backend that computes
    in float64, and the distance that is allowed; else eager."""
    torch.manual_seed(seed)
    model, inputs = make()
    model.train(training)

    def by_torch(model, inputs):
        return run(model, inputs, torch.compile(model, backend=oracle) if oracle else None)
    theirs, share = by_torch(copy.deepcopy(model), inputs), 1e-6
    try:
        exact = by_torch(copy.deepcopy(model).double(), as_double(inputs))
    except RuntimeError:  # a model that makes numbers of its own in single precision
        exact = None
    if exact is None or any(value.isnan().any() and not theirs[name].isnan().any() for name, value in exact.items() if name in theirs):
        exact, share = theirs, 1e-4
    ours_model = copy.deepcopy(model)
    compiled, state = support.compiled(ours_model, fullgraph=False, backend=backend), copy.deepcopy(ours_model.state_dict())
    run(ours_model, inputs, compiled)
    ours_model.load_state_dict(state)
    ours = run(ours_model, inputs, compiled)  # past AOTAutograd's wrapper
    largest = max(value.norm().item() for value in exact.values())
    found = []
    for name in set(ours) ^ set(exact):  # AOTAutograd gives zeros, eager nothing, to what a loss does not depend on
        if ours.pop(name, exact.get(name)).any():
            found.append((name, "has no gradient in one of them", 0))
    for name, value in exact.items():
        if name not in ours:
            continue
        none = value.isnan() & ours[name].isnan() & theirs[name].isnan()  # of all three
        value, mine, eagers = (one.masked_fill(none, 0) for one in (value, ours[name], theirs[name]))
        allowed = 2 * (eagers - value).norm() + share * value.norm() + 1e-8 * largest
        distance = (mine - value).norm()
        if not distance <= allowed:
            found.append((name, distance.item(), allowed.item()))
    return found


@support.needs_torch
@support.needs("transformers", "torchvision")
class Models(unittest.TestCase):
    def test_all_kinds_are_there(self):
        self.assertEqual(len(torch_models.ALL), 16)


def _test(make, training):
    def test(self):
        for seed in range(3):  # a tie of relu or of a pool may flip at one
            if training:
                found = too_far(make, seed, True)
            else:
                with torch.no_grad():
                    found = too_far(make, seed, False)
            if not found:
                return
        self.fail(f"{len(found)} too far from float64: {found[:4]}")
    return test


if support.HAVE:
    for _make in torch_models.ALL:
        _tiny = functools.partial(_make, tiny=True)
        setattr(Models, f"test_{_make.__name__}_infers", _test(_tiny, False))
        setattr(Models, f"test_{_make.__name__}_trains", _test(_tiny, True))

if __name__ == "__main__":
    unittest.main(argv=sys.argv)
