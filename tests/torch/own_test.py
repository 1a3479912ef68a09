"""Executors that PyTorch brings for functions of ours: `torch`, line by line under PyTorch's names, and `inductor`, by regions."""
# covers: bindings/python/thunder/torch/_by_name.py
import shutil
import sys
import unittest

import support

if support.HAVE:
    import torch
    from torch.nn import functional as F

    import thunder as th
    from thunder.torch import _by_name

UNARY = ("abs neg sign floor ceil round trunc exp expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan tanh sinh cosh atan asin erf erfc "
         "lgamma digamma sigmoid relu relu6 gelu silu elu selu celu softplus hardswish hardsigmoid hardtanh mish logsigmoid softsign")


def executors_of(compiled):
    """{op: who runs it} of the last program."""
    text = str(th.last_traces(compiled)[-1])
    lines = [line.split(" = ", 1)[1] for line in text.splitlines() if " = " in line and " by " in line]
    return {line.partition("(")[0]: line.partition(" by ")[2].split()[0] for line in lines}


@support.needs_torch
class ByName(unittest.TestCase):
    def setUp(self):
        th.seed(0)

    def same(self, function, theirs, *arguments):
        """Bit by bit what PyTorch gives."""
        compiled = th.compile(function, executors=["torch"])
        got, want = compiled(*arguments), theirs(*[torch.from_dlpack(a) for a in arguments])
        for a, b in zip(support.tensors(want), got if isinstance(got, tuple) else (got,)):
            self.assertTrue(torch.equal(torch.from_dlpack(b), a), theirs)
        return executors_of(compiled)

    def test_functions_of_one_tensor_have_the_bits_of_torch(self):
        x = th.rand([5, 7]) * 0.9 + 0.05
        for name in UNARY.split():
            theirs = getattr(torch, name, None) or getattr(F, name)
            self.assertIn("torch", self.same(getattr(th, name), theirs, x).values(), name)

    def test_a_network_has_the_bits_of_torch(self):
        x, w, b = th.randn([4, 8]), th.randn([6, 8]), th.randn([6])
        named = self.same(lambda x, w, b: th.softmax(th.gelu(th.linear(x, w, b)), -1) + 1,
                          lambda x, w, b: torch.softmax(F.gelu(F.linear(x, w, b)), -1) + 1, x, w, b)
        self.assertEqual({named[op] for op in ("linear", "gelu", "softmax")}, {"torch"})

    def test_norms_reductions_and_products_have_the_bits_of_torch(self):
        x, y = th.randn([4, 6]), th.randn([6, 3])
        self.same(lambda x, y: (x @ y, x.sum(1), x.mean(0), x.amax(1), x.var(1), th.layer_norm(x, [6]), th.cumsum(x, 1)),
                  lambda x, y: (x @ y, x.sum(1), x.mean(0), x.amax(1), x.var(1), F.layer_norm(x, [6]), x.cumsum(1)), x, y)

    def test_convolutions_and_pools_have_the_bits_of_torch(self):
        x, w = th.randn([2, 3, 8, 8]), th.randn([4, 3, 3, 3])
        self.same(lambda x, w: th.max_pool2d(th.conv2d(x, w, stride=2, padding=1), 2),
                  lambda x, w: F.max_pool2d(F.conv2d(x, w, stride=2, padding=1), 2), x, w)

    def test_numbers_on_either_side(self):
        x = th.rand([5]) + 0.5
        for function in (lambda x: 1 - x, lambda x: 2 / x, lambda x: x / 3, lambda x: 2 ** x, lambda x: x ** 2, lambda x: 3 * x - 1):
            self.same(function, function, x)

    def test_gradients_run_by_it_too(self):
        x, w = th.randn([4, 8]), th.randn([6, 8])

        def loss(x, w):
            return th.silu(th.linear(x, w)).square().mean()
        compiled = th.compile(lambda x, w: th.grad(loss, (0, 1))(x, w), executors=["torch"])
        got, want = compiled(x, w), th.grad(loss, (0, 1))(x, w)
        for a, b in zip(got, want):
            torch.testing.assert_close(torch.from_dlpack(a), torch.from_dlpack(b), rtol=1e-4, atol=1e-6)
        self.assertEqual(executors_of(compiled)["matmul"], "torch")

    def test_what_draws_numbers_is_the_librarys(self):
        def draws(x):
            return th.dropout(x, 0.5, training=True) + th.rand_like(x)
        found = []
        for options in ({}, {"executors": ["torch"]}):
            th.seed(3)
            found.append(th.compile(draws, **options)(th.ones([64])).tolist())
        self.assertEqual(*found)

    def test_another_type_than_the_lines_is_not_asked_for(self):
        call = _by_name.call_of
        x = th.ones([3], th.int64)
        named = th.compile(lambda x: x // 2 + th.true_divide(x, 2).to(th.int64), executors=["torch"])
        self.assertEqual(named(x).tolist(), [0, 0, 0])
        self.assertIsNone(call(type("Line", (), {"op": "no such op"})))

    def test_sizes_that_vary(self):
        compiled = th.compile(lambda x: th.softmax(x, -1).sum(0), executors=["torch"], dynamic=True)
        for n in (3, 4, 9):
            x = th.randn([n, 5])
            torch.testing.assert_close(torch.from_dlpack(compiled(x)), torch.from_dlpack(x).softmax(-1).sum(0))


@support.needs_torch
@unittest.skipUnless(shutil.which("c++") or shutil.which("g++"), "no C++ compiler, which Inductor needs")
class Inductor(unittest.TestCase):
    def test_a_region_is_compiled_by_inductor(self):
        x, w = th.randn([4, 8]), th.randn([6, 8])

        def f(x, w):
            return (th.relu(th.linear(x, w)) * 2).t().sum(1)
        for options in ({"executors": ["inductor"]}, {"executors_list": ["torchcompile"]}, {"backend": "inductor"}):
            compiled = th.compile(f, **options)
            for _ in range(2):
                torch.testing.assert_close(torch.from_dlpack(compiled(x, w)), torch.from_dlpack(f(x, w)), rtol=1e-5, atol=1e-5)
            self.assertRegex(str(th.last_traces(compiled)[-1]), "region .* by (inductor|torchcompile)")

    def test_gradients_are_in_regions_too(self):
        x, w = th.randn([4, 8]), th.randn([6, 8])

        def loss(x, w):
            return th.silu(th.linear(x, w)).square().mean()
        compiled = th.compile(lambda x, w: th.grad(loss, (0, 1))(x, w), executors=["inductor"])
        for a, b in zip(compiled(x, w), th.grad(loss, (0, 1))(x, w)):
            torch.testing.assert_close(torch.from_dlpack(a), torch.from_dlpack(b), rtol=1e-4, atol=1e-6)

    def test_it_stands_before_the_others_for_a_module(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU())
        compiled, x = th.jit(model, executors=["inductor"]), torch.randn(2, 4)
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-6)
        compiled(x).sum().backward()
        self.assertIsNotNone(model[0].weight.grad)
        self.assertIn("by inductor", str(th.last_traces(compiled)[-1]))

    def test_the_backends_table_has_it(self):
        self.assertIn("inductor", th.list_backends())


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
