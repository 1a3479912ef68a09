"""The executor torch: lines that PyTorch runs, inside of our programs."""
# covers: bindings/python/thunder/torch/_decide.py bindings/python/thunder/torch/_record.py
import sys
import unittest
from unittest import mock

import support

if support.HAVE:
    import torch

    import thunder
    from torch.fx.experimental.proxy_tensor import make_fx

    from thunder.torch import _backend, _rows


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

    def test_what_a_row_refuses_is_a_line_and_says_why(self):
        def refuses(x):
            return _rows.op["matmul"](x, _rows.op["ones"]([7, 7]))
        x = torch.randn(2, 3)
        with mock.patch.dict(_rows._rows, {"aten.sinh": _rows.Row(refuses)}):
            run = support.compiled(lambda x: torch.sinh(x) * 2)
            for _ in range(2):
                torch.testing.assert_close(run(x), torch.sinh(x) * 2)
        self.assertIn("torch.aten.sinh.default", program_text())
        self.assertRegex(thunder.explain(run, "torch"), "sinh.*inner dimensions differ")

    def test_what_a_row_gives_in_another_type_than_torch_is_a_line(self):
        x = torch.randn(2, 3)
        with mock.patch.dict(_rows._rows, {"aten.sinh": _rows.Row(lambda x: _rows.op["sinh"](x.double()))}):
            self.same(lambda x: torch.sinh(x) * 2, x)
        self.assertIn("torch.aten.sinh.default", program_text())

    def test_complex_numbers_inside_of_a_function_are_lines(self):
        self.same(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2, n=x.shape[0]) + 1, torch.randn(8))
        self.assertIn("torch.aten._fft_r2c.default", program_text())

    def test_a_result_may_be_complex(self):
        self.same(lambda x: torch.fft.rfft(x), torch.randn(8))

    def test_what_is_asserted_of_values_is_a_line_that_is_kept(self):
        def f(x):
            torch._assert_async((x > 0).all(), "numbers above 0 are wanted")
            return x * 2
        run = support.compiled(f)
        torch.testing.assert_close(run(torch.ones(3)), 2 * torch.ones(3))
        with self.assertRaisesRegex(RuntimeError, "numbers above 0"):
            run(-torch.ones(3))

    def test_arguments_may_be_complex(self):
        z = torch.randn(6, 4, dtype=torch.complex64)
        for function in (lambda z: z * 2 + 1, lambda z: (z * z).abs(), lambda z: z.imag * 2, lambda z: (z.conj() * z).real, lambda z: z.t() * 2):
            for argument in (z, z.conj(), z.t(), z.to(torch.complex128)):
                self.same(function, argument)
            self.same(function, torch.randn(7, 3, dtype=torch.complex64), dynamic=True)

    def test_what_a_backward_is_given_may_be_complex(self):
        z = torch.randn(6, 4, dtype=torch.complex64, requires_grad=True)
        x = torch.randn(6, 4, requires_grad=True)
        for function, argument in ((lambda z: (z * z).abs(), z), (lambda x: torch.fft.rfft(x).abs(), x),
                                   (lambda x: torch.fft.irfft(torch.fft.rfft(x) ** 2, n=4), x)):
            cotangent = torch.randn_like(function(argument))
            torch._dynamo.reset()
            got = torch.autograd.grad(support.compiled(function)(argument), argument, cotangent)
            torch.testing.assert_close(got, torch.autograd.grad(function(argument), argument, cotangent))

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

    def test_an_op_whose_factors_are_read_is_a_line(self):
        a, b = torch.randn(4, 4) + 4 * torch.eye(4), torch.randn(4, 2)
        for f in (torch.linalg.solve, lambda a, b: torch.linalg.det(a) + b.sum(), lambda a, b: torch.linalg.slogdet(a)[1] + b.sum()):
            found = []
            compiled = support.compiled(f)
            for function in (f, compiled):
                x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
                made = function(x, y)
                made.sum().backward()
                found.append((made.detach(), x.grad, y.grad))
            torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-4)
            self.assertIn("which is read", thunder.explain(compiled, "torch"))
        compiled = support.compiled(torch.linalg.solve)
        compiled(a, b)  # nobody reads them
        self.assertRegex(thunder.explain(compiled, "torch"), "0 of them run by torch\n.*thunder: the library has it: .*1 aten._linalg_solve_ex")

    def test_each_op_is_said_with_who_runs_it_and_why(self):
        def f(x, y):
            return torch.special.airy_ai(x).exp() + y.exp() * (y.shape[0] // 2) + x.shape[0] / 3
        run = support.compiled(f, dynamic=True)
        run(torch.randn(6), torch.randn(6))
        text = thunder.explain(run, "torch")
        self.assertRegex(text, r"aten.special_airy_ai.default at \S+:\d+: the library has no such op")
        self.assertRegex(text, "thunder: the library has it: .*2 aten.exp")
        self.assertRegex(text, "a size: the sizes of the arguments give it: .*floordiv")
        self.assertRegex(text, "thunder: a number computed of sizes: .*truediv")

    def test_a_row_is_tried_once_for_all_nodes_that_are_alike(self):
        calls = []

        def counted(x):
            calls.append(x.shape)
            return _rows.op["sinh"](x)
        with mock.patch.dict(_rows._rows, {"aten.sinh": _rows.Row(counted)}):
            self.same(lambda x: torch.sinh(torch.sinh(x)), torch.randn(2, 3))
        self.assertEqual(calls, [(2, 3)] * 3)  # then the graph is traced

    def test_reasons_say_what_was_asked_for(self):
        x = torch.randn(8)
        for function, options, why in ((torch.exp, {"executors": ["torch"]}, "the executor torch was asked for"),
                                       (torch.rand_like, {"fallback_random": True}, "fallback_random was asked for"),
                                       (lambda x: torch.fft.rfft(x).abs(), {}, "its numbers are complex"),
                                       (torch.special.airy_ai, {}, "the library has no such op")):
            compiled = support.compiled(lambda x, f=function: f(x), options=options)
            compiled(x)
            self.assertIn(why, thunder.explain(compiled, "torch"))

    def test_a_line_may_give_many_results(self):
        def f(x):
            made = torch.ops.aten._native_batch_norm_legit_functional(x, None, None, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5)
            return [one + 1 for one in made]
        self.same(f, torch.randn(5, 3), options={"executors": ["torch"]})
        self.assertIn("torch.aten._native_batch_norm_legit_functional.default.of1(", program_text())

    def test_a_backward_gives_the_gradients_that_are_wanted(self):
        conv = torch.nn.Conv2d(3, 4, 3)
        x = torch.randn(2, 3, 6, 6)
        support.compiled(conv, options={"executors": ["torch"]})(x).sum().backward()
        got, conv.bias.grad, conv.weight.grad = conv.weight.grad, None, None
        conv(x).sum().backward()
        torch.testing.assert_close(got, conv.weight.grad, rtol=0, atol=0)

    def test_a_gradient_that_is_not_wanted_is_none_of_the_others(self):
        def f(dy, x, weight, mean, scale):
            made = torch.ops.aten.native_batch_norm_backward(dy, x, weight, None, None, mean, scale, True, 1e-5, [False, True, True])
            return made[1:]
        given = [torch.randn(3, 4, 2, 4), torch.randn(3, 4, 2, 4), *torch.rand(3, 4).unbind()]
        graph = make_fx(f, tracing_mode="fake")(*given)  # whose meta function shows all three
        fakes = [node.meta["val"] for node in graph.graph.find_nodes(op="placeholder")]
        options, by_torch, _ = _backend.options_of(None, None)
        run = _backend._program(graph, fakes, options, by_torch, [], None)
        torch.testing.assert_close(tuple(run(list(given))), tuple(f(*given)))

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


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
