"""backend="thunder": how it is found, what it is told, what it refuses, and that it trains."""
import copy
import os
import subprocess
import sys
import threading
import unittest

import support

if support.HAVE:
    import torch
    from torch import nn

    import thunder


def losses(model, inputs, function, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = function(**inputs)
        loss = loss[0] if isinstance(loss, tuple) else loss.loss if hasattr(loss, "loss") else loss
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


@support.needs_torch
class Backend(unittest.TestCase):
    def trains(self, make):
        torch.manual_seed(0)
        model, inputs = make(tiny=True)
        ours = copy.deepcopy(model)
        want = losses(model, inputs, model)
        got = losses(ours, inputs, support.compiled(ours, fullgraph=False))
        for a, b in zip(want, got):
            self.assertAlmostEqual(a, b, delta=2e-3 * max(1, abs(a)))

    @support.needs("torchvision")
    def test_tensors_of_kinds_that_nothing_here_is_run_by_pytorch(self):
        small = torch.randn(3, 4).to(torch.float8_e4m3fn)
        self.assertTrue(torch.equal(support.compiled(lambda x: x.float() * 2)(small), small.float() * 2))
        x = torch.randn(3, 4)
        self.assertTrue(torch.equal(support.compiled(lambda x: x.to(torch.float8_e5m2).float())(x), x.to(torch.float8_e5m2).float()))
        self.assertEqual(support.compiled(lambda x: x.t() * 2)(torch.empty(3, 4, device="meta")).shape, (4, 3))
        parts = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged)
        for a, b in zip(support.compiled(lambda x: x * 2)(parts).unbind(), parts.unbind()):
            self.assertTrue(torch.equal(a, b * 2))
        self.assertIn("runs by torch as a whole", thunder.torch.explain())

    def test_lines_of_a_sequential_name_its_modules(self):
        compiled = support.compiled(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()))
        compiled(torch.ones(2, 3))
        trace = str(thunder.last_traces(compiled)[0])
        for name in ("Sequential.0 Linear", "Sequential.1 ReLU"):
            self.assertIn(name, trace)

    def test_trains_a_resnet18_to_the_losses_of_eager(self):
        from workloads import torch_models
        self.trains(torch_models.resnet18)

    @support.needs("transformers")
    def test_trains_a_gpt2_to_the_losses_of_eager(self):
        from workloads import torch_models
        self.trains(torch_models.gpt2)

    def test_a_compiled_module_shares_everything_with_its_model(self):
        model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
        compiled = thunder.compile(model)
        self.assertIsInstance(compiled, nn.Sequential)
        self.assertEqual(list(compiled.state_dict()), list(model.state_dict()))
        compiled.eval()
        self.assertFalse(model[2].training)
        x = torch.randn(5, 4)
        torch.testing.assert_close(compiled(x), model(x))
        with torch.no_grad():
            model[0].weight.mul_(2)
        torch.testing.assert_close(compiled(x), model(x))
        compiled(x).sum().backward()
        self.assertIsNotNone(model[0].weight.grad)
        with self.assertRaisesRegex(TypeError, "unknown option 'freezin'"):
            thunder.compile(model, freezin=True)

    def test_what_torch_compile_made_is_not_compiled_again(self):
        for made in (torch.compile(nn.Linear(2, 2)), torch.compile(lambda x: x)):
            with self.assertRaisesRegex(TypeError, "torch.compile has compiled this already"):
                thunder.jit(made)

    def test_what_a_module_has_compiled_in_place_is_not_compiled_again(self):
        model = nn.Linear(2, 2)
        model.compile(backend="eager")
        with self.assertRaisesRegex(TypeError, r"Linear.compile\(\) has compiled this module in place"):
            thunder.compile(model)

    def test_torch_compile_refuses_what_thunder_compile_made(self):
        x = torch.ones(2)
        function, module = thunder.compile(lambda x: x * 2), thunder.compile(nn.Linear(2, 2))
        for made in (function, module):
            with self.assertRaisesRegex(TypeError, "thunder.compile has compiled this already: give torch.compile what that was given"):
                torch.compile(made, backend="eager")
        with self.assertRaisesRegex(TypeError, "thunder.compile has compiled this already"):
            module.compile()
        self.assertEqual(torch.compiler.disable(function)(x).tolist(), [2, 2])
        self.assertEqual(torch.compiler.disable(module)(x).shape, (2,))
        torch._dynamo.reset()
        inside = torch.compile(lambda x: module(x) + torch.from_dlpack(function(x)), backend="eager")
        torch.testing.assert_close(inside(x), module(x) + 2 * x)

    def test_a_compiled_module_may_be_compiled_with_other_options(self):
        model, x = nn.Linear(2, 3), torch.ones(2)
        again = thunder.compile(thunder.compile(model), executors=["host"])
        torch.testing.assert_close(again(x), model(x))
        self.assertIs(type(again).__mro__[1], nn.Linear)

    def test_a_thread_may_call_while_another_one_compiles(self):
        from torch.fx import _symbolic_trace
        other, x, called = support.compiled(lambda x: x * 2), torch.ones(3), []
        other(x)

        @torch.library.custom_op("thunder_tests::while_traced", mutates_args=())
        def op(x: torch.Tensor) -> torch.Tensor:
            return x + 1

        @op.register_fake
        def fake(x):
            if _symbolic_trace._is_fx_tracing_flag:
                thread = threading.Thread(target=lambda: called.append(other(torch.ones(3))))
                thread.start()
                thread.join()
            return torch.empty_like(x)
        self.assertEqual(torch.compile(op, backend="thunder")(x).tolist(), [2, 2, 2])
        self.assertTrue(called)
        self.assertEqual(called[0].tolist(), [2, 2, 2])

    def test_is_listed(self):
        self.assertIn("thunder", torch._dynamo.list_backends())

    def test_import_thunder_imports_no_torch(self):
        code = "import sys, thunder; sys.exit('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], env=os.environ).returncode, 0)

    def test_options_are_those_of_compile(self):
        x = torch.randn(8)
        for named in ({"options": {"executors": ["host"]}}, {"mode": "max-autotune-no-cudagraphs"}, {"options": {"verify": True}}):
            torch.testing.assert_close(support.compiled(lambda x: x.exp() + 1, **named)(x), x.exp() + 1)

    def test_an_unknown_option_is_an_error(self):
        with self.assertRaisesRegex(Exception, "unknown option 'freezin'.*freezing"):
            support.compiled(lambda x: x + 1, options={"freezin": True})(torch.randn(3))
        with self.assertRaisesRegex(Exception, "mode.*fast"):
            support.compiled(lambda x: x + 1, mode="fast")(torch.randn(3))

    def test_an_op_whose_sizes_depend_on_values_is_named_with_the_line(self):
        support.compiled(lambda x: x.nonzero())(torch.randn(8))
        self.assertRegex(thunder.torch.explain(), r"as a whole: aten.nonzero.default at .*backend_test.py:\d+: values of tensors decide")

    def test_graphs_whose_sizes_values_decide_are_run_by_pytorch(self):
        x = torch.tensor([0.0, 2.0, -1.0])
        with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True, capture_scalar_outputs=True):  # as fullgraph=True does
            for f in (lambda x: x[x.nonzero().squeeze(1)] * 2, lambda x: x.masked_select(x > 0), lambda x: x * x.sum().item(),
                      lambda x: torch.zeros(int(x[1].item())) + 1):
                torch.testing.assert_close(support.compiled(f)(x), f(x))
                self.assertIn("runs by torch as a whole", thunder.torch.explain())
            trained = x.clone().requires_grad_()
            got, = torch.autograd.grad(support.compiled(lambda x: x[x.nonzero().squeeze(1)].square())(trained).sum(), trained)
        self.assertEqual(got.tolist(), [0, 4, -2])

    def test_graphs_with_ops_that_no_line_may_be_are_run_by_pytorch(self):
        x, y = torch.randn(3, dtype=torch.complex64), torch.randn(2, 3)
        want, given = x * 2, x.clone()
        support.compiled(lambda x: x.mul_(2))(given)
        self.assertTrue(torch.equal(given, want))
        self.assertRegex(thunder.torch.explain(), "as a whole: aten.copy_.default.*its numbers are complex")
        lazy, shown = [torch.complex(y, y + 1).conj().imag for _ in range(2)]
        support.compiled(lambda x: x.mul_(2))(lazy)
        self.assertTrue(torch.equal(lazy, shown * 2))

    def test_lines_of_the_program_are_those_of_the_user(self):
        def f(x):
            return x.exp().sum()
        support.compiled(f)(torch.randn(4))
        text = str(thunder.last_traces(thunder.torch.programs()[-1])[0])
        self.assertIn(f"backend_test.py:{f.__code__.co_firstlineno + 1}", text)

    def test_linear_is_put_together_again(self):
        support.compiled(nn.Linear(4, 3))(torch.randn(2, 4))
        self.assertIn("linear(", str(thunder.last_traces(thunder.torch.programs()[0])[0]))

    def test_attention_stays_whole(self):
        q = torch.randn(1, 2, 4, 8)
        support.compiled(nn.functional.scaled_dot_product_attention)(q, q, q)
        self.assertIn("scaled_dot_product_attention_forward(", str(thunder.last_traces(thunder.torch.programs()[-1])[0]))


if __name__ == "__main__":
    unittest.main()
