"""Calls past AOTAutograd's wrapper: where they are made, and that they are what autograd takes them for."""
# covers: bindings/python/thunder/torch/_private.py bindings/python/src/exchange*.c
import gc
import sys
import unittest
import weakref

import support

if support.HAVE:
    import torch

    import thunder
    from torch.utils._pytree import tree_map_only

    from thunder.torch import _backend, _private

    BUILTIN = type(len)

    class Holder(torch.Tensor):
        """A tensor that holds one other."""

        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)

        def __init__(self, inner):
            self.inner = inner

        def __repr__(self):
            return f"Holder({self.inner})"

        def __tensor_flatten__(self):
            return ["inner"], None

        @staticmethod
        def __tensor_unflatten__(tensors, context, size, stride):
            return Holder(tensors["inner"])

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            args, kwargs = tree_map_only(Holder, lambda one: one.inner, (args, kwargs or {}))
            return tree_map_only(torch.Tensor, Holder, function(*args, **kwargs))


def called(compiled):
    """What Dynamo calls for the last graph."""
    return _private.made_of(compiled)[0]


def trained(compiled, *arguments):
    """Called until its backward is known, then once more: what that call gives."""
    support.differentiated(compiled(*arguments))
    for one in support.tensors(arguments):
        one.grad = None
    return compiled(*arguments)


def goes_around(results):
    """Whether the results come of our own autograd.Function."""
    return any(t.grad_fn is not None and type(t.grad_fn).__name__ == "CompiledBackward" for t in support.tensors(results))


@support.needs_torch
class Direct(support.Beside if support.HAVE else unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_an_inference_is_a_function_in_c(self):
        compiled = support.compiled(lambda x, y: x + y)
        self.assertEqual(compiled(torch.ones(3), torch.ones(3)).tolist(), [2, 2, 2])
        self.assertIs(type(called(compiled)), BUILTIN)
        self.assertEqual(len(_backend.programs(compiled)), 1)

    def test_arguments_of_a_call_are_not_those_of_the_call_before(self):
        compiled = support.compiled(lambda x, y: x * 2 + y, dynamic=False)
        kept = [torch.randn(3, 4) for _ in range(3)]
        tall = torch.randn(5, 4)
        for x, y in ((kept[0], kept[1]), (kept[1], kept[2]), (kept[2], kept[2]), (tall, tall), (kept[0].clone(), kept[1]),
                     (torch.randn(4, 3).t(), kept[0]), (kept[0], kept[0])):
            torch.testing.assert_close(compiled(x, y), x * 2 + y)

    def test_what_a_backward_is_given_may_be_the_arguments(self):
        compiled = support.compiled(lambda x, y: x * y)
        x, y = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)
        trained(compiled, x, y).sum().backward()
        self.assertTrue(goes_around(compiled(x, y)))
        torch.testing.assert_close((x.grad, y.grad), (y.detach(), x.detach()))

    def test_frozen_parameters_are_constants_at_inference_alone(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).eval()
        x = torch.randn(5, 4)
        compiled = support.compiled(model, options={"freezing": True})
        with torch.no_grad():
            want = model(x)
            torch.testing.assert_close(compiled(x), want)
            self.assertNotIn("i[2]", str(thunder.last_traces(_backend.programs(compiled)[-1])[0]))
        compiled(x).sum().backward()  # trained: they are read
        self.assertIsNotNone(model[0].weight.grad)

    def test_frozen_parameters_that_are_replaced_are_others(self):
        def assigned(model):
            model.load_state_dict({name: torch.full_like(one, 0.25) for name, one in model.state_dict().items()}, assign=True)

        def replaced(model):
            model[0].weight = torch.nn.Parameter(torch.full((3, 4), 0.75))
        for forward in (lambda y: y, lambda y: (y * 2, y)):  # called in C, and by AOTAutograd's wrapper
            for change in (assigned, replaced):
                model, x = torch.nn.Sequential(torch.nn.Linear(4, 3)), torch.randn(5, 4)
                compiled = support.compiled(lambda x: forward(model(x)), options={"freezing": True})
                with torch.no_grad():
                    torch.testing.assert_close(compiled(x), forward(model(x)))
                    change(model)
                    for _ in range(2):
                        torch.testing.assert_close(compiled(x), forward(model(x)))

    def test_modules_that_share_frozen_code_have_their_own_constants(self):
        models, x = [torch.nn.Linear(4, 4) for _ in range(3)], torch.randn(5, 4)

        def each(x):
            for model in models:
                torch._dynamo.graph_break()
                x = model(x)
            return x
        compiled = support.compiled(each, fullgraph=False, options={"freezing": True})
        with torch.no_grad():
            for _ in range(3):
                torch.testing.assert_close(compiled(x), each(x))

    def test_constants_that_are_replaced_are_freed(self):
        model, x = torch.nn.Linear(4, 3), torch.randn(5, 4)
        compiled = support.compiled(model, options={"freezing": True})
        with torch.no_grad():
            compiled(x)
            old = weakref.ref(model.weight)
            for _ in range(2):
                model.weight = torch.nn.Parameter(torch.randn(3, 4))
                compiled(x)
        gc.collect()
        self.assertIsNone(old())
        self.assertLessEqual(len(_backend.programs(compiled)), 2)

    def test_frozen_buffers_that_are_written_are_not_constants(self):
        model, x = torch.nn.BatchNorm1d(3), torch.randn(5, 3)
        compiled = support.compiled(model, options={"freezing": True})
        with torch.no_grad():
            before = model.running_mean.clone()
            compiled(x)
            first = model.running_mean.clone()
            compiled(x)
        self.assertFalse(torch.equal(before, first))
        self.assertFalse(torch.equal(model.running_mean, first))

    def test_what_the_wrapper_has_to_do_is_left_to_it(self):
        def writes(x):
            x.add_(1)
            return x * 2
        for function in (writes, lambda x: x.t(), lambda x: (x * 2, x[0])):
            compiled = support.compiled(function)
            compiled(torch.ones(2, 2))
            self.assertIsNot(type(called(compiled)), BUILTIN)
            x = torch.ones(2, 2, requires_grad=True)
            if function is not writes:
                self.assertFalse(goes_around(trained(support.compiled(function), x)))

    def test_tensors_that_hold_one_other_are_left_to_it(self):
        x = torch.randn(3)
        for f, argument in ((lambda x: x + 1, Holder(x)), (lambda x: Holder(x + 1), x)):
            made = support.compiled(f)(argument)
            self.assertIs(type(made), Holder)
            self.assertEqual(made.inner.tolist(), (x + 1).tolist())

    def test_autocast_is_left_to_it(self):
        compiled = support.compiled(lambda x: x @ x)
        with torch.autocast("cpu", torch.bfloat16):
            compiled(torch.ones(2, 2))
        self.assertIsNot(type(called(compiled)), BUILTIN)

    def test_a_second_step_has_the_gradients_of_the_first(self):
        linear = torch.nn.Linear(4, 3)
        compiled, x, found = support.compiled(linear), torch.randn(2, 4, requires_grad=True), []
        for function in (compiled, compiled, linear):
            linear.zero_grad()
            x.grad = None
            y = function(x)
            y.square().sum().backward()
            found.append([y.detach(), x.grad, linear.weight.grad, linear.bias.grad, goes_around(y)])
        self.assertEqual([one.pop() for one in found], [False, True, False])
        for other in found[1:]:
            for a, b in zip(found[0], other):
                torch.testing.assert_close(b, a, rtol=1e-5, atol=1e-6)

    def test_gradients_may_be_expanded_or_lie_otherwise(self):
        compiled, x = support.compiled(lambda x: x * x), torch.randn(3, 4, requires_grad=True)
        for gradient in (torch.ones(()).expand(3, 4), torch.randn(4, 3).t(), torch.randn(3, 4)):
            y = trained(compiled, x)
            self.assertTrue(goes_around(y))
            y.backward(gradient)
            torch.testing.assert_close(x.grad, 2 * x.detach() * gradient)

    def test_results_without_gradients_and_ones_that_nobody_reads(self):
        x = torch.randn(5, requires_grad=True)
        a, b, c = trained(support.compiled(lambda x: (x.exp(), x.argmax(), x * 3)), x)
        self.assertTrue(goes_around((a, b, c)))
        self.assertEqual((a.requires_grad, b.requires_grad, c.requires_grad), (True, False, True))
        c.sum().backward()
        torch.testing.assert_close(x.grad, torch.full((5,), 3.0))

    def test_arguments_without_gradients_have_none(self):
        x, w = torch.randn(5, requires_grad=True), torch.randn(5)
        trained(support.compiled(lambda x, w: x * w), x, w).sum().backward()
        torch.testing.assert_close(x.grad, w)
        self.assertIsNone(w.grad)

    def test_a_graph_that_is_kept_runs_backward_again(self):
        x = torch.randn(3, requires_grad=True)
        y = trained(support.compiled(lambda x: (x.tanh() * x).sum()), x)
        y.backward(retain_graph=True)
        first = x.grad.clone()
        y.backward()
        torch.testing.assert_close(x.grad, 2 * first)
        with self.assertRaisesRegex(RuntimeError, "second time"):
            y.backward()

    def test_what_is_saved_may_not_be_written_before_the_backward(self):
        x, w = torch.randn(3, requires_grad=True), torch.randn(3)
        y = trained(support.compiled(lambda x, w: (x * w).sum()), x, w)
        w.add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.backward()

    def test_a_gradient_of_a_gradient_is_refused_when_it_is_asked_for(self):
        x = torch.randn(3, requires_grad=True)
        y = trained(support.compiled(lambda x: (x * x * x).sum()), x)
        first, = torch.autograd.grad(y, x, create_graph=True)
        torch.testing.assert_close(first, 3 * x * x)
        with self.assertRaisesRegex(RuntimeError, "a gradient of a gradient"):
            first.sum().backward()

    def test_hooks_see_what_is_saved(self):
        seen, x = [], torch.randn(3, requires_grad=True)
        compiled = support.compiled(lambda x: (x * x).sum())
        trained(compiled, x)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.shape) or t, lambda t: t):
            compiled(x).backward()
        self.assertTrue(seen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
