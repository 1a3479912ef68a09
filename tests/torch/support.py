"""What the tests beside PyTorch share. Without it each of them says so and is skipped."""
import copy
import importlib.util
import pathlib
import sys
import unittest

HAVE = importlib.util.find_spec("torch") is not None
WHY = "no torch here: ./check torch makes an environment that has it"

if HAVE:
    import torch
    from torch.utils import _pytree

    import thunder.torch  # noqa: F401


sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))  # whose models these tests run, too


def needs_torch(case):
    return unittest.skipUnless(HAVE, WHY)(case)


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"no {', '.join(missing)} here")


def compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, **{"backend": "thunder", "fullgraph": True, **options})


def tensors(tree):
    return [leaf for leaf in _pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def own(arguments):
    """Copies with the same layout, that require grad where the arguments do."""
    return [a.detach().clone().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else copy.deepcopy(a) for a in arguments]


def differentiated(results, seed=0):
    """Runs the backward of all results that have one, from random cotangents."""
    generator = torch.Generator().manual_seed(seed)
    of = [t for t in tensors(results) if t.requires_grad]
    if of:
        torch.autograd.backward(of, [torch.randn(t.shape, generator=generator, dtype=torch.float64).to(t.dtype) for t in of])


class Beside(unittest.TestCase):
    """A function compiled beside the same one run by torch: results, their strides, what became of the arguments, gradients."""

    def same(self, function, *arguments, tolerance=1e-5, dynamic=None, **options):
        theirs, ours = own(arguments), own(arguments)
        run = compiled(function, dynamic=dynamic, **options)
        differentiated(run(*own(arguments)))  # what follows may go past AOTAutograd's wrapper
        want, got = function(*theirs), run(*ours)
        self.assertEqual(len(tensors(want)), len(tensors(got)))
        for a, b in zip(tensors(want), tensors(got)):
            torch.testing.assert_close(b, a, rtol=tolerance, atol=tolerance)
            if a.numel() > 1:
                self.assertEqual(b.stride(), a.stride())
        differentiated(want)
        differentiated(got)
        for a, b in zip(tensors(theirs), tensors(ours)):
            torch.testing.assert_close(b.detach(), a.detach(), rtol=tolerance, atol=tolerance)
            self.assertEqual(a.grad is None, b.grad is None)
            if a.grad is not None:
                torch.testing.assert_close(b.grad, a.grad, rtol=tolerance, atol=tolerance)
        return got
