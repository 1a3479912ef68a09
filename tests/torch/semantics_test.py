"""What a compiled PyTorch function must keep: writes, views, strides, symbols, random numbers, constants, threads."""
# covers: bindings/python/thunder/torch/_rewrites.py bindings/python/thunder/torch/_groups.py
import gc
import os
import subprocess
import sys
import threading
import unittest

import support

if support.HAVE:
    import torch
    from torch.nn import functional as F

    import thunder


@support.needs_torch
class Semantics(support.Beside if support.HAVE else unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_arguments_are_written_in_their_own_memory(self):
        def write(x, y):
            x.add_(y)
            x.mul_(2)
            return x + y
        x, y = torch.randn(3), torch.randn(3)
        self.same(write, x, y)
        place = x.data_ptr()
        compiled = support.compiled(write)
        compiled(x, y)
        self.assertEqual(x.data_ptr(), place)

    def test_writes_through_views_reach_the_argument(self):
        def write(x):
            x[0] = 0
            x.t()[1] = 3
            return x.sum()
        self.same(write, torch.randn(3, 3))

    def test_what_was_read_before_a_write_stays(self):
        def write(x):
            before = x.clone()
            x.zero_()
            return before + x
        self.same(write, torch.randn(3))

    def test_views_of_arguments_are_views(self):
        x = torch.randn(3, 4)
        t, rest, same = support.compiled(lambda x: (x.t(), x[1:], x))(x)
        self.assertEqual([t.data_ptr(), rest.data_ptr()], [x.data_ptr(), x.data_ptr() + 16])
        self.assertIs(same, x)
        x.fill_(1)
        self.assertTrue(bool((t == 1).all() and (rest == 1).all()))

    def test_views_follow_an_argument_that_starts_elsewhere(self):
        compiled = support.compiled(lambda x: (x.t(), x + 1))
        memory = torch.arange(40.0)
        for start in (0, 7):
            x = memory[start:start + 12].view(3, 4)
            t, _ = compiled(x)
            self.assertTrue(torch.equal(t, x.t()))

    def test_views_are_right_where_an_argument_lies_otherwise(self):
        from thunder.torch import _results
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        x.meta["val"] = torch.empty(3, 4)
        t = graph.call_function(torch.ops.aten.t.default, (x,))
        t.meta["val"] = torch.empty(3, 4).t()
        graph.output((t,))
        results = _results.Results(graph, [x], None, None)
        for argument in (torch.randn(3, 4), torch.randn(4, 3).t()):
            self.assertTrue(torch.equal(results.keep([argument])[0], argument.t()))

    def test_results_have_the_strides_of_torch(self):
        self.same(lambda x: (x * 2).t(), torch.randn(3, 4))
        self.same(lambda x: (x * 2).permute(2, 0, 1) + 1, torch.randn(3, 4, 5))
        self.same(lambda x: (x * 2).expand(5, 3), torch.randn(1, 3))
        self.same(lambda x: (x * 2)[:, ::2], torch.randn(4, 6))
        self.same(lambda x: F.relu(x) + 1, torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last))

    def test_a_result_given_twice_is_one_tensor(self):
        def twice(x):
            y = x * 2
            return y, y
        a, b = support.compiled(twice)(torch.randn(3))
        self.assertEqual(a.data_ptr(), b.data_ptr())

    def test_arguments_without_gaps_are_not_needed(self):
        self.same(lambda x, y: x * 2 + y, torch.randn(6, 8)[::2, ::2], torch.randn(4, 3).t())

    def test_constants_of_the_function_are_read(self):
        self.same(lambda x: x + torch.tensor([1.0, 2.0, 3.0]), torch.randn(3))
        kept = torch.ones(3)
        compiled = support.compiled(lambda x: x + kept)
        self.assertTrue(torch.equal(compiled(torch.zeros(3)), torch.ones(3)))
        kept.fill_(5)
        self.assertTrue(torch.equal(compiled(torch.zeros(3)), torch.full((3,), 5.0)))

    def test_lengths_that_vary_give_right_results(self):
        for dynamic in (None, True):
            compiled = support.compiled(lambda x: torch.cat([x, x[:1]])[1:] + x * x.shape[0], dynamic=dynamic)
            for length in (5, 6, 9, 1, 12):
                x = torch.randn(length, 3, requires_grad=True)
                y = x.detach().clone().requires_grad_()
                got, want = compiled(x), torch.cat([y, y[:1]])[1:] + y * length
                got.sum().backward()
                want.sum().backward()
                torch.testing.assert_close(got, want)
                torch.testing.assert_close(x.grad, y.grad)

    def test_dropout_draws_anew_and_follows_the_seed(self):
        drop = support.compiled(torch.nn.Dropout(0.25))
        x = torch.ones(10000, requires_grad=True)
        torch.manual_seed(1)
        a, b = drop(x), drop(x)
        a.sum().backward()
        torch.manual_seed(1)
        c = drop(x)
        self.assertAlmostEqual((a == 0).float().mean().item(), 0.25, delta=0.03)
        self.assertFalse(torch.equal(a, b))
        self.assertTrue(torch.equal(a, c))
        self.assertTrue(torch.equal(x.grad, a.detach()))  # of ones: the mask and the factor

    def test_random_tensors_have_their_distributions(self):
        def draw(x):
            return torch.rand_like(x), torch.randn_like(x), torch.randint(0, 10, (10000,)), torch.bernoulli(x * 0 + 0.3), torch.rand(3)
        uniform, normal, whole, coin, other = support.compiled(draw)(torch.zeros(10000))
        self.assertAlmostEqual(uniform.mean().item(), 0.5, delta=0.02)
        self.assertAlmostEqual(normal.std().item(), 1, delta=0.05)
        self.assertEqual(set(whole.tolist()), set(range(10)))
        self.assertAlmostEqual(coin.mean().item(), 0.3, delta=0.03)
        self.assertFalse(torch.equal(uniform[:3], other))

    def test_draws_by_what_is_no_probability_are_refused(self):
        for draw, bad in ((torch.bernoulli, (-0.5, 1.5, float("nan"))), (lambda p: torch.multinomial(p, 1), (-0.5, float("nan"), float("inf")))):
            torch._dynamo.reset()
            compiled = support.compiled(draw)
            for p in bad:
                compiled(torch.tensor([0.5, 0.5]))
                for f in (draw, compiled):
                    with self.assertRaisesRegex(RuntimeError, "Expected p_in|probability tensor contains"):
                        f(torch.tensor([0.5, p]))

    def test_classes_that_one_hot_lacks_are_refused(self):
        for dynamic in (False, True):
            torch._dynamo.reset()
            compiled = support.compiled(lambda i, w: (F.one_hot(i, 4) * w).sum(), dynamic=dynamic)
            w = torch.ones(4, requires_grad=True)
            compiled(torch.tensor([0, 3]), w).backward()
            self.assertEqual(w.grad.tolist(), [1, 0, 0, 1])
            for index, why in ((4, "smaller than num_classes"), (-1, "non-negative")):
                for weight in (w, w.detach()):
                    with self.assertRaisesRegex(RuntimeError, f"Class values must be {why}"):
                        compiled(torch.tensor([0, index]), weight)

    def test_an_index_out_of_range_is_an_index_error(self):
        x, i = torch.arange(12.0).reshape(3, 4), torch.tensor([0, 2, 5])
        for f in (lambda x, i: x[i], lambda x, i: x.index_select(0, i), lambda x, i: x.take(i * 9), lambda x, i: F.embedding(i, x),
                  lambda x, i: x.index_put((i,), torch.ones(3, 4)), lambda x, i: F.nll_loss(x, i), lambda x, i: F.cross_entropy(x, i)):
            torch._dynamo.reset()
            for called in (f, support.compiled(f), support.compiled(f, dynamic=True)):
                with self.assertRaises(IndexError):
                    called(x, i)

    def test_one_bound_that_is_no_number_limits_nothing(self):
        nan = float("nan")
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            x = torch.tensor([nan, 1, float("inf"), -float("inf"), -0.0, 0.5] * 3, dtype=dtype)
            for f in (lambda x: x.clamp(max=nan), lambda x: x.clamp(min=nan), lambda x: x.clamp(nan, 1), lambda x: x.clamp(0, nan),
                      lambda x: x.clamp(min=torch.tensor(nan)), lambda x: torch.clamp_max(x, nan)):
                torch._dynamo.reset()
                self.assertTrue(torch.equal(support.compiled(f)(x).nan_to_num(7), f(x).nan_to_num(7)), dtype)

    def test_powers_of_float16_are_those_of_eager_at_the_borders(self):
        x = torch.tensor([-float("inf"), -0.0, 0.0, float("inf"), 4, -1, float("nan")] * 3)
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            for exponent in (0.5, -0.5, -1, 2, 3, 2.5):
                torch._dynamo.reset()
                f = support.compiled(lambda x: x ** exponent)  # noqa: B023
                torch.testing.assert_close(f(x.to(dtype)), x.to(dtype) ** exponent, equal_nan=True, rtol=0, atol=0)

    def test_autocast_is_taken_over(self):
        def product(x, w):
            with torch.autocast("cpu", torch.bfloat16):
                return F.linear(x, w).relu()
        got = self.same(product, torch.randn(4, 8, requires_grad=True), torch.randn(5, 8, requires_grad=True), tolerance=3e-2)
        self.assertEqual(got.dtype, torch.bfloat16)

    def test_an_autograd_function_keeps_its_backward(self):
        class Doubled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 7
        x = torch.randn(3, requires_grad=True)
        support.compiled(lambda x: Doubled.apply(x) + x)(x).sum().backward()
        self.assertTrue(torch.equal(x.grad, torch.full((3,), 8.0)))

    def test_no_grad_regions_have_no_gradient(self):
        def part(x):
            with torch.no_grad():
                y = x * 3
            return x * y
        self.same(part, torch.randn(3, requires_grad=True))

    def test_a_graph_that_is_kept_runs_backward_again(self):
        x = torch.randn(3, requires_grad=True)
        y = support.compiled(lambda x: (x.tanh() * x).sum())(x)
        y.backward(retain_graph=True)
        first = x.grad.clone()
        y.backward()
        torch.testing.assert_close(x.grad, 2 * first)

    def test_backward_runs_in_another_thread(self):
        x = torch.randn(3, requires_grad=True)
        y = support.compiled(lambda x: (x * x).sum())(x)
        worker = threading.Thread(target=y.backward)
        worker.start()
        worker.join()
        torch.testing.assert_close(x.grad, 2 * x.detach())

    def test_fallback_random_draws_the_numbers_of_eager(self):
        def f(x):
            return F.dropout(x * 2, 0.3) + torch.rand_like(x)
        x = torch.randn(40, requires_grad=True)
        found = []
        for function in (f, support.compiled(f, options={"fallback_random": True})):
            torch.manual_seed(3)
            x.grad = None
            y = function(x)
            y.sum().backward()
            found.append((y.detach(), x.grad))
        torch.testing.assert_close(found[1], found[0], rtol=0, atol=0)

    def test_two_threads_call_at_once(self):
        compiled, wrong = support.compiled(lambda x: torch.tanh(x @ x) + 1), []
        compiled(torch.randn(64, 64))

        def work(seed):
            x = torch.randn(64, 64, generator=torch.Generator().manual_seed(seed))
            want = torch.tanh(x @ x) + 1
            for _ in range(30):
                if not torch.allclose(compiled(x), want, atol=1e-4):
                    wrong.append(seed)
        workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(wrong, [])

    def test_loops_run_on_the_threads_of_pytorch(self):
        code = """if True:
            import os, torch, thunder.torch
            torch.set_num_threads(3)
            x = torch.randn(512, 512)
            x @ x
            before = len(os.listdir("/proc/self/task"))
            compiled = torch.compile(lambda x: torch.tanh(x @ x) + 1, backend="thunder")
            torch.testing.assert_close(compiled(x), torch.tanh(x @ x) + 1, rtol=1e-3, atol=1e-3)
            child = os.fork()  # has none of these threads
            if not child:
                os._exit(not compiled(x)[0, 0].isfinite())
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            import thunder
            print(len(os.listdir("/proc/self/task")) - before)"""
        done = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.stdout, done.returncode), ("0\n", 0), done.stderr)

    def test_results_outlive_what_made_them(self):
        compiled = support.compiled(lambda x: x + 1)
        y = compiled(torch.zeros(1000))
        del compiled
        torch._dynamo.reset()
        gc.collect()
        y.add_(1)
        self.assertEqual(y.sum().item(), 2000)

    def test_a_compiled_step_of_an_optimizer_is_its_step(self):
        for make, named in ((torch.optim.SGD, {"momentum": 0.9}), (torch.optim.AdamW, {})):
            parameters = [[torch.ones(3, requires_grad=True), torch.zeros(2, 2, requires_grad=True)] for _ in range(2)]
            optimizers = [make(own, lr=0.1, **named) for own in parameters]
            torch._dynamo.reset()
            steps = [optimizers[0].step, torch.compile(optimizers[1].step, backend="thunder")]
            for _ in range(3):
                for own, step in zip(parameters, steps):
                    for i, p in enumerate(own):
                        p.grad = p.detach() * 0.5 + i + 1
                    step()
            for a, b in zip(*parameters):
                torch.testing.assert_close(b, a)

    def test_the_list_of_results_may_hold_what_is_no_tensor(self):
        got = support.compiled(lambda x, n: (x * n, n, None, "a", x.shape[0]))(torch.ones(3), 4)
        self.assertEqual(got[1:], (4, None, "a", 3))

    def test_elements_at_known_places_are_taken_dim_by_dim(self):
        for scale in (2, (3, 1), 1.5, 0.5):
            def function(x, scale=scale):
                return torch.nn.functional.interpolate(x, scale_factor=scale)
            with torch.no_grad():
                self.same(function, torch.randn(2, 3, 4, 6))
            text = str(thunder.last_traces(thunder.torch.programs()[-1])[0])
            self.assertEqual((text.count(" index("), text.count("index_select(")), (0, 2), text)
            self.same(function, torch.randn(2, 3, 4, 6, requires_grad=True))
        with torch.no_grad():
            self.same(lambda x: x[:, torch.arange(-3, 3)[:, None], torch.arange(4)], torch.randn(2, 5, 4))

    def test_rows_with_a_gathered_matrix_each_are_products_of_groups(self):
        def columns(matrices, places, rows):
            return torch.bmm(matrices[places], rows.unsqueeze(-1)).squeeze(-1)

        def lines(matrices, places, rows):
            return torch.bmm(rows.unsqueeze(1), matrices.transpose(1, 2)[places]).squeeze(1)
        matrices, places, rows = torch.randn(4, 6, 5), torch.tensor([3, 0, -1, 0, 2, 3, 0]), torch.randn(7, 5)
        for function in (columns, lines):
            with torch.no_grad():
                self.same(function, matrices, places, rows)
                text = str(thunder.last_traces(thunder.torch.programs()[-1])[0])
                self.assertEqual((text.count("grouped_mm("), text.count("matmul(")), (1, 0), text)
                with self.assertRaisesRegex((RuntimeError, IndexError), "4"):
                    support.compiled(function)(matrices, torch.tensor([3, 0, 4, 0, 2, 3, 0]), rows)
            self.same(function, *(one.requires_grad_() if one.is_floating_point() else one for one in (matrices, places, rows)))
            texts = [str(thunder.last_traces(program)[0]) for program in thunder.torch.programs()[-2:]]
            self.assertEqual([text.count("grouped_mm(") for text in texts], [1, 2], texts)
            self.assertFalse([text for text in texts if "matmul(" in text or "index_put(" in text], texts)

    def test_sums_of_outer_products_by_place_that_broadcast_are_eagers(self):
        places = torch.arange(9) % 4
        for columns, rows in (((9, 1, 1), (9, 1, 5)), ((9, 6, 1), (9, 1, 1)), ((1, 6, 1), (1, 1, 5)), ((9, 6, 1), (9, 1, 5))):
            self.same(lambda c, r: torch.zeros(4, 6, 5).index_put((places,), torch.bmm(c, r), accumulate=True),
                      torch.randn(columns, requires_grad=True), torch.randn(rows, requires_grad=True))

        def transposed(w, c, r):
            return torch.zeros_like(w.mT).index_put((places[:2],), torch.bmm(c, r), accumulate=True)
        own = torch.randn(4, 5, 6), torch.randn(2, 6, 1, requires_grad=True), torch.randn(2, 1, 5, requires_grad=True)
        self.assertEqual(support.compiled(transposed)(*own).stride(), transposed(*own).stride())

    def test_norms_of_16_bits_save_statistics_of_32(self):
        for norm, size in ((torch.nn.BatchNorm2d(5), (4, 5, 6, 7)), (torch.nn.LayerNorm(64), (8, 64)), (torch.nn.GroupNorm(2, 4), (3, 4, 9))):
            for dtype in (torch.bfloat16, torch.float16):
                x, g = (torch.randn(size) * 4 + 100).to(dtype), torch.randn(size).to(dtype)
                found = []
                for module, wide in ((norm, torch.float64), (support.compiled(norm), dtype)):
                    norm.to(torch.float64 if wide is torch.float64 else torch.float32).zero_grad()
                    own = x.to(wide).requires_grad_()
                    module(own).backward(g.to(wide))
                    found.append([norm.weight.grad.double(), own.grad.double()])
                for exact, ours in zip(*found):
                    self.assertLess(((ours - exact).norm() / exact.norm()).item(), 0.008, (norm, dtype))


if __name__ == "__main__":
    unittest.main()
