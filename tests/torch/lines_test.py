"""The executor torch: lines that PyTorch runs, inside of our programs."""
import copy
import sys
import unittest

import support

if support.HAVE:
    import torch
    from torch import nn

    import thunder


def program_text(number=-1):
    return str(thunder.last_traces(thunder.torch.programs()[number])[-1])


@support.needs_torch
class Lines(unittest.TestCase):
    def same(self, function, *arguments, **named):
        torch._dynamo.reset()
        torch.testing.assert_close(support.compiled(function, **named)(*arguments), function(*arguments), rtol=1e-5, atol=1e-6)

    def test_an_op_that_is_lacking_is_a_line_of_its_own(self):
        def f(x):
            return torch.special.airy_ai(x) * 2
        self.same(f, torch.randn(4, 5))
        self.assertRegex(program_text(), r"torch\.aten\.special_airy_ai\S*\(.*by torch")

    def test_complex_numbers_inside_of_a_function_are_lines(self):
        self.same(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2, n=x.shape[0]) + 1, torch.randn(8))
        self.assertIn("torch.aten._fft_r2c.default", program_text())

    def test_a_result_may_be_complex(self):
        self.same(lambda x: torch.fft.rfft(x), torch.randn(8))

    def test_a_custom_op_is_a_line(self):
        @torch.library.custom_op("thunder_test::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @twice.register_fake
        def _(x):
            return torch.empty_like(x)
        twice.register_autograd(lambda ctx, grad: grad * 2)
        self.same(lambda x: twice(x.t()).exp() + x.t(), torch.randn(3, 4))
        self.assertIn("torch.thunder_test.twice.default", program_text())
        x = torch.randn(4, requires_grad=True)
        support.compiled(lambda x: twice(x).sum())(x).backward()
        torch.testing.assert_close(x.grad, torch.full((4,), 2.0))

    def test_arguments_are_not_copied(self):
        seen = []

        @torch.library.custom_op("thunder_test::place", mutates_args=())
        def place(x: torch.Tensor) -> torch.Tensor:
            seen.append((x.data_ptr(), x.stride()))
            return x.clone()

        @place.register_fake
        def _(x):
            return torch.empty_like(x)
        x = torch.randn(5, 6)
        support.compiled(lambda x: place(x.t()) + 1)(x)
        self.assertEqual(seen, [(x.data_ptr(), (1, 6))])

    def test_a_line_says_who_runs_it_and_why(self):
        torch._dynamo.reset()
        support.compiled(lambda x: torch.fft.rfft(x).abs())(torch.randn(8))
        self.assertIn("_fft_r2c", thunder.torch.explain())
        self.assertIn("the library has no such op", thunder.torch.explain())

    def test_what_a_line_raises_is_the_calls_error(self):
        @torch.library.custom_op("thunder_test::fails", mutates_args=())
        def fails(x: torch.Tensor) -> torch.Tensor:
            raise ValueError("the third kind")

        @fails.register_fake
        def _(x):
            return torch.empty_like(x)
        with self.assertRaisesRegex(Exception, "the third kind"):
            support.compiled(lambda x: fails(x) + 1)(torch.randn(3))

    def test_graphs_inside_of_graphs_run_by_torch_as_a_whole(self):
        def f(x):
            return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,)) + 1
        self.same(f, torch.ones(4))
        self.assertIn("cond", thunder.torch.explain())

    def test_a_line_may_call_a_compiled_function(self):
        inner = thunder.compile(lambda x: x * x)

        @torch.library.custom_op("thunder_test::square", mutates_args=())
        def square(x: torch.Tensor) -> torch.Tensor:
            return torch.from_dlpack(inner(thunder.from_dlpack(x.clone())))

        @square.register_fake
        def _(x):
            return torch.empty_like(x)
        self.same(lambda x: square(x) + 1, torch.randn(4))


def all_by_torch(make):
    def test(self):
        torch._dynamo.reset()
        torch.manual_seed(0)
        model, inputs = make()
        theirs = copy.deepcopy(model)
        found = []
        for one, function in ((theirs, torch.compile(theirs, backend="aot_eager")),
                              (model, torch.compile(model, backend="thunder", options={"executors": ["torch"]}))):
            torch.manual_seed(1)
            out = function(**inputs)
            loss = out[0] if isinstance(out, tuple) else out.loss if getattr(out, "loss", None) is not None else next(iter(out.values()))
            loss.float().sum().backward()
            found.append([loss.detach(), *[p.grad for p in one.parameters() if p.grad is not None]])
        self.assertEqual(len(found[0]), len(found[1]))
        for a, b in zip(*found):
            self.assertTrue(torch.equal(a, b), (a - b).abs().max())
    return test


@support.needs_torch
@support.needs("transformers", "torchvision")
class AllByTorch(unittest.TestCase):
    """executors=["torch"]: the bits of eager."""


if support.HAVE:
    try:
        import models
        for _make in (models.bert, models.gpt2, models.llama, models.whisper):
            setattr(AllByTorch, f"test_{_make.__name__}", all_by_torch(_make))
    except ImportError:
        pass

if __name__ == "__main__":
    unittest.main(argv=sys.argv)
