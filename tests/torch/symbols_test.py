"""Sizes that vary: one capture of Dynamo's, and one trace of ours."""
# covers: bindings/python/thunder/torch/_graph.py
import itertools
import math
import sys
import unittest
from unittest import mock

import support

if support.HAVE:
    import torch
    from torch import nn

    import thunder
    from thunder.torch import _backend, _graph


class Counted:
    """How many graphs torch captured, and how often one of ours was traced."""

    def __enter__(self):
        self.graphs = self.traces = 0
        made, replay = _graph.Graph.__init__, _graph.Graph.replay

        def init(graph, *args, **named):
            self.graphs += 1
            made(graph, *args, **named)

        def traced(graph, *args):
            self.traces += 1
            return replay(graph, *args)
        self.patches = [mock.patch.object(_graph.Graph, "__init__", init), mock.patch.object(_graph.Graph, "replay", traced)]
        for patch in self.patches:
            patch.start()
        return self

    def __exit__(self, *error):
        for patch in self.patches:
            patch.stop()


@support.needs_torch
class Symbols(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def lengths(self, function, make, lengths, most, **named):
        with Counted() as counted:
            compiled = torch.compile(function, backend="thunder", fullgraph=True, **named)
            for length in lengths:
                arguments = make(length)
                torch.testing.assert_close(compiled(*arguments), function(*arguments), rtol=1e-4, atol=1e-5)
        self.assertLessEqual(counted.traces, most)
        return counted

    def test_dynamic_traces_once(self):
        self.lengths(lambda x: (x.view(-1) * 2).sum(0) + x.shape[0], lambda n: (torch.randn(n, 4),), range(5, 15), 1, dynamic=True)

    def test_the_second_length_makes_it_dynamic(self):
        self.lengths(lambda x: torch.softmax(x, 0) @ x.t(), lambda n: (torch.randn(n, 4),), range(5, 15), 2)

    def test_marked_sizes_vary_at_once(self):
        def make(n):
            x = torch.randn(n, 4)
            torch._dynamo.mark_dynamic(x, 0)
            return (x,)
        self.lengths(lambda x: x.exp().cumsum(0), make, range(5, 12), 1)

    def test_a_sum_of_a_size_less_what_was_added_is_the_size(self):
        self.lengths(lambda x, row: torch.cat([x, row])[1:] + x, lambda n: (torch.randn(n, 3), torch.randn(1, 3)), range(4, 12), 1,
                     dynamic=True)

    def test_integers_beside_tensors_are_their_sizes(self):
        self.lengths(lambda x, n: x * n + x.shape[0], lambda n: (torch.randn(n, 4), n + 1), range(6, 20, 2), 2)

    def test_sizes_may_be_products(self):
        def f(x, w):
            return (x.reshape(-1, 8) @ w).exp().sum()
        w = torch.randn(8, 3, requires_grad=True)
        with Counted() as counted:
            compiled = torch.compile(f, backend="thunder", dynamic=True)
            for n in range(3, 9):
                x = torch.randn(n, n + 1, 8) * 0.1
                compiled(x, w).backward()
                got, w.grad = w.grad, None
                f(x, w).backward()
                torch.testing.assert_close(got, w.grad)
                w.grad = None
        self.assertLessEqual(counted.traces, 4)  # of two captures: the first takes two sizes for one

    def test_two_sizes_that_are_equal_once_may_differ_later(self):
        self.lengths(lambda x, y: (x.sum(0, keepdim=True) + 1, y * 2), lambda n: (torch.randn(n, 3), torch.randn(7, 2) if n % 2 else
                                                                                 torch.randn(n, 2)), [7, 8, 9, 10, 11], 2, dynamic=True)

    def once(self, function, make, lengths=range(6, 16, 2)):
        """One graph and one trace for all lengths."""
        counted = self.lengths(function, make, lengths, 1, dynamic=True)
        self.assertEqual(counted.graphs, 1)
        torch._dynamo.reset()

    def test_parts_of_a_size_that_varies(self):
        def rows(n):
            return (torch.randn(n, 4),)
        self.once(lambda x: x.reshape(-1, 4, 2) * 2, lambda n: (torch.randn(n, 12),))
        self.once(lambda x: x.chunk(2)[0] * x.chunk(2)[1], rows)
        self.once(lambda x: torch.cat((-x[x.shape[0] // 2:], x[:x.shape[0] // 2])), rows)
        self.once(lambda x: sum(part.sum() for part in x.split(x.shape[0] // 2)), rows)
        self.once(lambda x: torch.cat(x.split([2, x.shape[0] - 2])[::-1]), rows)
        self.once(lambda x: x.unflatten(0, (-1, 2)).sum(1), rows)
        self.once(lambda x: x.roll(1, 0), rows)
        self.once(lambda x: x.view(-1) + torch.arange(x.shape[0] * 4), rows)

    def test_windows_of_a_size_that_varies(self):
        def image(n):
            return (torch.randn(1, 2, n, 8),)
        functional = nn.functional
        self.once(lambda x: functional.avg_pool2d(x, 2), image)
        self.once(lambda x: functional.max_pool2d(x, 3, 2, 1), image)
        self.once(lambda x: functional.adaptive_avg_pool2d(x, 2), image)
        self.once(lambda x: functional.interpolate(x, scale_factor=2), image)
        self.once(lambda x: functional.unfold(x, 3), image)
        self.once(lambda x: x.unfold(2, 3, 2).sum(-1), image)
        self.once(lambda x: functional.pad(x, (1, 1, 2, 2), mode="reflect"), image)

    def test_a_backward_whose_sizes_are_formulas_of_integers_is_traced_once(self):
        for function in (lambda x: x.repeat(2, 1), lambda x: x[:-1] - x[1:], lambda x: x.flatten() * 2):
            torch._dynamo.reset()
            with Counted() as counted:
                compiled = torch.compile(function, backend="thunder", dynamic=True, fullgraph=True)
                for n in range(5, 12):
                    x = torch.randn(n, 4, requires_grad=True)
                    made, want = compiled(x), function(x)
                    cotangent = torch.randn_like(want)
                    torch.testing.assert_close(*[torch.autograd.grad(y, x, cotangent) for y in (made, want)])
            self.assertEqual((counted.graphs, counted.traces), (2, 2))

    def test_a_backward_of_parts_is_traced_once(self):
        functional = nn.functional

        def rows(n):
            return torch.randn(n, 4, requires_grad=True)

        def image(n):
            return torch.randn(1, 2, n, 8, requires_grad=True)
        cases = ((lambda x: x.chunk(3)[0] * 2, rows, range(6, 30, 3)), (lambda x: x.split(x.shape[0] // 2)[1] * 2, rows, range(6, 20, 2)),
                 (lambda x: x.narrow(0, 1, x.shape[0] - 2).exp(), rows, range(6, 14)),
                 (lambda x: functional.pad(x, (0, 0, 0, 64 - x.shape[0])) * 2, rows, range(6, 14)),
                 (lambda x: functional.pad(x, (0, 0, 0, -x.shape[0] % 8)).exp(), rows, range(9, 15)),
                 (lambda x: x * torch.arange(3, x.shape[0] + 3)[:, None], rows, range(6, 14)),
                 (lambda x: x[::2] * torch.arange(0, x.shape[0], 2)[:, None], rows, range(6, 20, 2)),
                 (lambda x: x[x.shape[0] // 2] * 2, rows, range(6, 14)), (lambda x: x.mean(0) + x.var(0), rows, range(6, 14)),
                 (lambda x: functional.batch_norm(x, None, None, training=True), rows, range(6, 14)),
                 (lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"), image, range(6, 14)),
                 (lambda x: functional.conv2d(x, torch.ones(3, 2, 3, 3), padding=1), image, range(6, 14)),
                 (lambda x: functional.avg_pool2d(x, 2), image, range(6, 14, 2)),
                 (lambda x: functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False), image, range(7, 15, 2)),
                 (lambda x: functional.adaptive_avg_pool2d(x, 2), image, range(6, 14)))
        for function, make, lengths in cases:
            torch._dynamo.reset()
            with Counted() as counted:
                compiled = torch.compile(function, backend="thunder", dynamic=True, fullgraph=True)
                for n in lengths:
                    x = make(n)
                    made, want = compiled(x), function(x)
                    cotangent = torch.randn_like(want)
                    torch.testing.assert_close(*[torch.autograd.grad(y, x, cotangent) for y in (made, want)], rtol=1e-4, atol=1e-5)
            self.assertEqual((counted.graphs, counted.traces), (2, 2))

    def test_a_slice_to_the_smaller_of_two_sizes_is_traced_once_for_each(self):
        for function in (lambda x: x[:min(x.shape[0], 10)] * 2, lambda x: x[:max(x.shape[0] - 10, 2)].exp()):
            torch._dynamo.reset()
            self.lengths(function, lambda n: (torch.randn(n, 4),), [*range(6, 10), *range(13, 18)], 2, dynamic=True)

    def test_a_backward_of_a_slice_to_the_smaller_of_two_sizes_is_traced_once(self):
        for function in (lambda x: x[:min(x.shape[0], 10)] * 2, lambda x: x[:max(x.shape[0] - 10, 2)].exp()):
            torch._dynamo.reset()
            with Counted() as counted:
                compiled = torch.compile(function, backend="thunder", dynamic=True, fullgraph=True)
                for n in (*range(6, 10), *range(13, 18)):
                    x = torch.randn(n, 4, requires_grad=True)
                    made, want = compiled(x), function(x)
                    cotangent = torch.randn_like(want)
                    torch.testing.assert_close(*[torch.autograd.grad(y, x, cotangent) for y in (made, want)])
            self.assertEqual((counted.graphs, counted.traces), (2, 3))  # of the forward one for each of the two

    def test_numbers_of_sizes_and_strides_of_sizes_are_traced_once(self):
        def rows(n):
            return (torch.randn(n, 4),)
        self.once(lambda x: x.as_strided((x.shape[0] - 2, 3, 4), (4, 4, 1)) * 2, rows)
        self.once(lambda x: nn.functional.interpolate(x.t()[None], size=16, mode="linear"), rows)
        self.once(lambda x: x * (x.shape[0] / 16) + x.shape[0] * 0.5, rows)

    def test_integers_made_of_floats_of_sizes(self):
        def rows(n):
            return (torch.randn(n, 4),)
        cases = (lambda x: x[:int(x.shape[0] * 0.5)] * 2, lambda x: x[math.trunc(x.shape[0] / 3):] * 2, lambda x: x[:math.floor(x.shape[0] ** 0.5)] + 1,
                 lambda x: x[:math.ceil(x.shape[0] * 0.3)] + 1, lambda x: x[:round(x.shape[0] * 0.7)] + 1, lambda x: x * int(x.shape[0] / 2),
                 lambda x: x.sum() + (x.shape[0] | 1) + (x.shape[0] ^ 5) + (x.shape[0] << 1), lambda x: (x * 2, int(x.shape[0] * 1.5)),
                 lambda x: nn.functional.interpolate(x.t()[None], scale_factor=x.shape[0] / 10, mode="linear", recompute_scale_factor=True))
        for function, dynamic in itertools.product(cases, (None, True)):
            torch._dynamo.reset()
            self.lengths(function, rows, (6, 8, 9, 7, 12), 20, dynamic=dynamic)

    def test_integers_of_sizes_are_scalars_of_what_pytorch_runs(self):
        def rows(n):
            return (torch.complex(torch.randn(n, 4), torch.randn(n, 4)),)
        for function in (lambda z: torch.add(z, z, alpha=z.shape[0]).real, lambda z: torch.fft.fft(z, n=z.shape[0] * 2).imag,
                         lambda z: (z * z.shape[0]).abs(), lambda z: torch.fft.rfft(z.real, n=z.shape[0]).real):
            torch._dynamo.reset()
            self.lengths(function, rows, (6, 8, 9), 6, dynamic=True)

    def test_a_gradient_that_repeats_a_number_lies_as_eagers(self):
        def f(x):
            return x.sum() + x.shape[0]
        compiled = support.compiled(f, dynamic=True)
        for n in (2, 4, 1):
            x = torch.randn(n, 3, requires_grad=True)
            (got,), (want,) = (torch.autograd.grad(g(x), x) for g in (compiled, f))
            torch.testing.assert_close(got, want)
            self.assertEqual(got.stride(), want.stride())

    @support.needs("transformers")
    def test_twenty_lengths_of_a_text_model_take_three_graphs_and_traces(self):
        from transformers import BertConfig, BertModel
        torch.manual_seed(0)
        config = BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
                            max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        model = BertModel(config).eval()
        compiled = torch.compile(model, backend="thunder", dynamic=True)
        with Counted() as counted, torch.no_grad():
            for n in range(5, 25):
                ids = torch.randint(1, 64, (2, n))
                torch.testing.assert_close(compiled(ids).last_hidden_state, model(ids).last_hidden_state, rtol=1e-3, atol=1e-4)
        self.assertLessEqual(counted.graphs, 3)
        self.assertLessEqual(counted.traces, 3)

    @support.needs("transformers")
    def test_training_at_several_lengths_traces_forward_and_backward_once(self):
        from transformers import BertConfig, BertModel
        torch.manual_seed(0)
        config = BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
                            max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        model = BertModel(config)
        compiled = torch.compile(model, backend="thunder", dynamic=True)
        with Counted() as counted:
            for n in range(5, 15):
                ids = torch.randint(1, 64, (2, n))
                found = []
                for function in (compiled, model):
                    model.zero_grad()
                    function(ids).last_hidden_state.square().sum().backward()
                    found.append(model.embeddings.word_embeddings.weight.grad.clone())
                torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-3)
        self.assertLessEqual(counted.graphs, 6)
        self.assertLessEqual(counted.traces, 6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
