"""What the introductions of lightning-thunder and torch.compile show, with `import thunder` as they have it."""
import contextlib
import io
import pathlib
import re
import sys
import unittest

import support

if support.HAVE:
    import torch

    import thunder


@support.needs_torch
class OurOwn(unittest.TestCase):
    def test_the_page_on_pytorch_models_runs(self):
        torch._dynamo.reset()
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "pytorch.md"
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        self.assertEqual(len(blocks), 2)
        names, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed):
            for block in blocks:
                exec(compile(block, "pytorch.md", "exec"), names)
        self.assertIsNotNone(names["model"]._orig_mod[0].weight.grad)
        self.assertIn("linear", printed.getvalue())
        self.assertIn(" by fusion", printed.getvalue())


@support.needs_torch
class LightningThunder(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(0)

    def test_a_module_is_compiled_and_trained(self):
        model = torch.nn.Sequential(torch.nn.Linear(2048, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
        thunder_model = thunder.compile(model)
        x = torch.randn(4, 2048)
        y = thunder_model(x)
        torch.testing.assert_close(y, model(x), rtol=1e-4, atol=1e-5)
        y.sum().backward()
        self.assertIsNotNone(model[0].weight.grad)

    def test_jit_of_a_module_is_compile(self):
        model = torch.nn.Linear(4, 3)
        jitted = thunder.jit(model)
        x = torch.randn(2, 4)
        torch.testing.assert_close(jitted(x), model(x))
        self.assertEqual(list(jitted.state_dict()), list(model.state_dict()))

    def test_a_function_of_torch_tensors(self):
        def foo(a, b):
            return a + b
        jfoo = thunder.jit(foo)
        a, b = torch.full((2, 2), 1.0), torch.full((2, 2), 3.0)
        result = jfoo(a, b)
        self.assertTrue(bool((torch.from_dlpack(result) == 4).all()))
        self.assertIn("add", str(thunder.last_traces(jfoo)[0]))

    def test_traces_of_a_module(self):
        model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.GELU(), torch.nn.Linear(4, 2))
        jitted = thunder.jit(model)
        jitted(torch.randn(3, 8)).sum().backward()
        self.assertIn("linear", str(thunder.last_traces(jitted)[0]))
        self.assertIn("matmul", str(thunder.last_backward_traces(jitted)[-1]))
        self.assertGreaterEqual(thunder.stats(jitted)["misses"], 1)
        self.assertIn("graph 1", thunder.explain(jitted, "torch"))

    def test_executors_by_name_and_list(self):
        model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)
        for executors in (["host"], ["torch"], thunder.executors.TORCH):
            torch._dynamo.reset()
            jitted = thunder.jit(model, executors=executors)
            torch.testing.assert_close(jitted(x), model(x))
        torch._dynamo.reset()
        torch.testing.assert_close(thunder.jit(model, executors_list=["torch"])(x), model(x))

    def test_the_inductor_executor_before_the_others(self):
        model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)
        jitted = thunder.jit(model, executors=["torchcompile", *thunder.executors()])
        torch.testing.assert_close(jitted(x), model(x), rtol=1e-5, atol=1e-6)
        self.assertIn("by torchcompile", str(thunder.last_traces(jitted)[-1]))

    def test_cache_options(self):
        model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)
        for cache in ("constant values", "no caching", "same input"):
            torch._dynamo.reset()
            torch.testing.assert_close(thunder.jit(model, cache=cache)(x), model(x))

    def test_examine(self):
        from thunder.examine import examine
        self.assertIn("0 by PyTorch", examine(lambda x: torch.softmax(x, 0) + 1, torch.randn(4)))

    def test_a_compiled_module_shares_its_parameters(self):
        model = torch.nn.Linear(4, 3)
        jitted = thunder.jit(model)
        x = torch.randn(2, 4)
        before = jitted(x)
        with torch.no_grad():
            model.weight.add_(1)
        self.assertFalse(torch.equal(before, jitted(x)))
        self.assertIs(jitted.weight, model.weight)


@support.needs_torch
class TorchCompile(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(0)

    def test_a_function(self):
        def foo(x, y):
            a = torch.sin(x)
            b = torch.cos(y)
            return a + b
        opt_foo1 = torch.compile(foo, backend="thunder")
        x, y = torch.randn(10, 10), torch.randn(10, 10)
        torch.testing.assert_close(opt_foo1(x, y), foo(x, y))

    def test_a_decorator(self):
        @torch.compile(backend="thunder")
        def opt_foo2(x, y):
            return torch.sin(x) + torch.cos(y)
        x, y = torch.randn(10, 10), torch.randn(10, 10)
        torch.testing.assert_close(opt_foo2(x, y), torch.sin(x) + torch.cos(y))

    def test_a_module(self):
        class MyModule(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = torch.nn.Linear(3, 3)

            def forward(self, x):
                return torch.nn.functional.relu(self.lin(x))
        mod = MyModule()
        mod.compile(backend="thunder")
        x = torch.randn(3, 3)
        torch.testing.assert_close(mod(x), mod.forward(x))

    def test_graph_breaks_and_fullgraph(self):
        def bar(a, b):
            x = a / (torch.abs(a) + 1)
            if b.sum() < 0:
                b = b * -1
            return x * b
        inp1, inp2 = torch.ones(5, 5), torch.randn(5, 5)
        opt_bar = torch.compile(bar, backend="thunder")
        torch.testing.assert_close(opt_bar(inp1, inp2), bar(inp1, inp2))
        torch.testing.assert_close(opt_bar(inp1, -inp2), bar(inp1, -inp2))
        torch._dynamo.reset()
        with self.assertRaises(Exception):
            torch.compile(bar, backend="thunder", fullgraph=True)(inp1, inp2)

    def test_mode_and_options(self):
        x = torch.randn(8)
        for named in ({"mode": "max-autotune-no-cudagraphs"}, {"options": {"verify": True}}, {"dynamic": True}, {"fullgraph": True}):
            torch._dynamo.reset()
            torch.testing.assert_close(torch.compile(lambda x: x.exp(), backend="thunder", **named)(x), x.exp())

    def test_backends_are_listed(self):
        self.assertIn("thunder", torch.compiler.list_backends())

    def test_reports_of_what_torch_compile_returned(self):
        compiled = torch.compile(torch.nn.Linear(4, 3), backend="thunder")
        compiled(torch.randn(2, 4)).sum().backward()
        self.assertIn("linear", str(thunder.last_traces(compiled)[0]))
        self.assertTrue(thunder.last_backward_traces(compiled))
        self.assertIn("run by torch", thunder.explain(compiled, "torch"))
        self.assertGreaterEqual(thunder.stats(compiled)["misses"], 1)

        def f(x):
            torch._dynamo.graph_break()
            return x + 1
        broken = torch.compile(f, backend="thunder")
        broken(torch.randn(3))
        self.assertIn("+", str(thunder.last_traces(broken)[0]) + "add +")

    def test_breaks_of_the_graph_are_told(self):
        def f(x):
            y = x * 2
            torch._dynamo.graph_break()
            return y + 1
        compiled = torch.compile(f, backend="thunder")
        compiled(torch.randn(3))
        found, = thunder.graph_breaks(compiled)
        self.assertEqual(found["where"].rpartition(":")[2], str(f.__code__.co_firstlineno + 2))
        self.assertIn("graph_break", found["reason"])
        self.assertEqual(found["times"], 1)
        self.assertIn("the graph breaks behind it", thunder.explain(compiled, "breaks"))
        self.assertEqual(thunder.graph_breaks(thunder.compile(lambda x: x)), [])

    def test_what_another_backend_compiled_has_no_reports(self):
        compiled = torch.compile(lambda x: x + 1, backend="eager")
        compiled(torch.randn(3))
        for report in (thunder.last_traces, thunder.stats, thunder.graph_breaks, lambda f: thunder.explain(f, "torch")):
            with self.assertRaisesRegex(TypeError, "is none that torch.compile"):
                report(compiled)

    def test_compiling_twice_says_what_to_write(self):
        compiled = torch.compile(torch.nn.Linear(2, 2), backend="thunder")
        with self.assertRaisesRegex(TypeError, "torch.compile has compiled this already"):
            thunder.compile(compiled)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
