"""Sixteen kinds of models, forward and backward: as near to a run in float64 as twice torch's own distance."""
import copy
import functools
import math
import sys
import typing
import unittest

import support

if support.HAVE:
    import torch
    from workloads import torch_models

MOVES = 5  # of parameters, by one unit in the last place


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


class Far(typing.NamedTuple):
    """A result or gradient that is further from float64 than it may be; noise: what it may be within the noise of one unit in the last place."""
    name: str
    distance: float
    allowed: float
    noise: float = 0.0


def moved(model, seed):
    """A copy whose parameters are moved by one unit in the last place, up, down or not at all."""
    model, generator = copy.deepcopy(model), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            way = torch.randint(-1, 2, p.shape, generator=generator).to(p.device)
            p.copy_(torch.nextafter(p, torch.where(way == 0, p, way * torch.inf)))
    return model


def by_torch(model, inputs, oracle):
    if oracle:
        torch._dynamo.reset()
    return run(model, inputs, torch.compile(model, backend=oracle) if oracle else None)


def too_far(make, seed, training, backend="thunder", oracle=None):
    """What of a model that a backend compiles is further from float64 than it may be. oracle: the backend that computes in float64, and the distance
    that is allowed; else eager."""
    torch.manual_seed(seed)
    model, inputs = make()
    model.train(training)
    theirs, share = by_torch(copy.deepcopy(model), inputs, oracle), 1e-6
    try:
        exact = by_torch(copy.deepcopy(model).double(), as_double(inputs), oracle)
    except RuntimeError:  # a model that makes numbers of its own in single precision
        exact = None
    if exact is None or any(value.isnan().any() and not theirs[name].isnan().any() for name, value in exact.items() if name in theirs):
        exact, share = theirs, 1e-4
    ours = compiled_run(copy.deepcopy(model), inputs, backend)
    largest = max(value.norm().item() for value in exact.values())

    def distance(some, name):
        value = exact[name]
        none = value.isnan() & ours[name].isnan() & theirs[name].isnan()  # of all three
        return (some[name] - value).masked_fill(none, 0).norm().item()

    def allowed(name, runs):
        return 2 * max(distance(one, name) for one in runs) + share * exact[name].nan_to_num().norm().item() + 1e-8 * largest
    found = []
    for name in set(ours) ^ set(exact):  # AOTAutograd gives zeros, eager nothing, to what a loss does not depend on
        if ours.pop(name, exact.get(name)).any():
            found.append(Far(name, math.inf, 0))
    found += [Far(name, distance(ours, name), allowed(name, [theirs])) for name in ours if not distance(ours, name) <= allowed(name, [theirs])]
    if found:
        near = [theirs, *(by_torch(moved(model, at), inputs, oracle) for at in range(MOVES))]
        found = [one._replace(noise=allowed(one.name, near)) if one.name in ours else one for one in found]
    return found


def compiled_run(model, inputs, backend):
    compiled, state = support.compiled(model, fullgraph=False, backend=backend), copy.deepcopy(model.state_dict())
    run(model, inputs, compiled)
    model.load_state_dict(state)
    return run(model, inputs, compiled)  # past AOTAutograd's wrapper


def within_noise(make, seed, training, found, backend="thunder", oracle=None):
    """Whether what too_far() has found is no more than rounding: eager's own results are as far where parameters are moved by one unit in the
    last place, and in float64, where no tie flips, ours are the same."""
    if not all(one.distance <= one.noise for one in found):
        return False
    torch.manual_seed(seed)
    model, inputs = make()
    model, inputs = model.train(training).double(), as_double(inputs)
    try:
        theirs, ours = by_torch(copy.deepcopy(model), inputs, oracle), compiled_run(copy.deepcopy(model), inputs, backend)
        near = [by_torch(moved(model, at), inputs, oracle) for at in range(MOVES)]
    except RuntimeError:  # a model that makes numbers of its own in single precision
        return False
    largest = max(value.norm() for value in theirs.values())

    def allowed(name, value):  # some constants of torch's are of single precision in float64, too
        return 2 * max((one[name] - value).norm() for one in near) + 1e-5 * value.norm() + 1e-8 * largest
    return all((ours[name] - value).norm() <= allowed(name, value) for name, value in theirs.items() if name in ours)


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
