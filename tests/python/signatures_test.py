"""PyTorch's ways of calling ops beside those of their schemas."""
import unittest

import numpy as np
import thunder as th
from thunder import nn
import thunder.nn.functional as F


class Signatures(unittest.TestCase):
    def same(self, got, expected):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-6, atol=1e-6)

    def test_tensors_one_by_one(self):
        a, b = th.tensor([1.0, 2.0]), th.tensor([3.0, 4.0, 5.0])
        for grids in (th.meshgrid(a, b), th.meshgrid([a, b]), th.meshgrid(a, b, indexing="ij")):
            self.assertEqual([g.shape for g in grids], [(2, 3), (2, 3)])
        self.assertEqual([g.shape for g in th.meshgrid([a, b], "xy")], [(3, 2), (3, 2)])
        self.assertEqual([t.shape for t in th.broadcast_tensors(a, th.ones(3, 1))], [(3, 2), (3, 2)])
        self.assertEqual([t.shape for t in th.atleast_2d(a, b)], [(1, 2), (1, 3)])
        self.assertEqual(th.atleast_2d(a).shape, (1, 2))

    def test_spreads_biased_or_not(self):
        x = np.random.default_rng(0).standard_normal((3, 4)).astype("f")
        t = th.from_numpy(x)
        self.same(th.var(t, unbiased=False), x.var())
        self.same(th.var(t, False), x.var())
        self.same(t.std(0, False), x.std(0))
        self.same(t.std(0, True, keepdim=True), x.std(0, ddof=1, keepdims=True))
        self.same(th.var(t, 1, correction=None), x.var(1, ddof=1))
        self.same(th.var(t, 1, correction=0.5), x.var(1, ddof=0.5))
        self.same(th.std_mean(t, 1, unbiased=False)[0], x.std(1))

    def test_tensors_without_dims_stand_for_numbers(self):
        self.same(th.linspace(th.tensor(1), th.tensor(2.0), 3), [1, 1.5, 2])
        self.assertEqual(th.narrow(th.arange(5), 0, th.tensor(1), 2).tolist(), [1, 2])
        with self.assertRaisesRegex(th.Error, "narrow: argument 'start' must be int"):
            th.narrow(th.arange(5), 0, th.tensor(1.0), 2)
        with self.assertRaisesRegex(th.Error, "leaky_relu: argument 'negative_slope' must be float"), th.tape():
            th.leaky_relu(th.ones(2), th.tensor(0.5))  # whose gradient would be lost

    def test_integers_without_a_lower_bound(self):
        for drawn in (th.randint(3, (2, 50)), th.randint(0, 3, (2, 50)), th.randint(high=3, size=(2, 50)), th.randint_like(th.zeros(2, 50), 3)):
            self.assertEqual(drawn.shape, (2, 50))
            self.assertTrue(0 <= drawn.min().item() and drawn.max().item() < 3)

    def test_dims_of_both_operands_and_places_in_tensors(self):
        a, b = np.ones((2, 3, 4), "f"), np.ones((4, 2, 5), "f")
        self.same(th.tensordot(a, b, dims=([0, 2], [1, 0])), np.tensordot(a, b, ([0, 2], [1, 0])))
        parts = th.tensor_split(th.arange(6), th.tensor([1, 4]))
        self.assertEqual([p.tolist() for p in parts], [[0], [1, 2, 3], [4, 5]])

    def test_norms_by_name(self):
        x = np.random.default_rng(0).standard_normal((2, 3, 3))
        self.same(th.norm(x, "fro"), np.sqrt((x * x).sum()))
        self.same(th.linalg.norm(x[0], "nuc"), np.linalg.norm(x[0], "nuc"))
        self.same(th.linalg.matrix_norm(x, "fro"), np.linalg.norm(x, axis=(1, 2)))
        self.same(th.linalg.matrix_norm(x, ord="nuc", dim=(0, 2), keepdim=True), np.linalg.norm(x, "nuc", axis=(0, 2), keepdims=True))
        with self.assertRaisesRegex(ValueError, "argument 'ord' must be a number, 'fro' or 'nuc', got 'max'"):
            th.linalg.norm(x, "max")

    def test_options_that_have_one_value_here(self):
        x, w = th.tensor([0, 2]), th.rand(3, 4)
        self.same(F.embedding(x, w, None, None, 2.0, False, False), th.embedding(x, w))
        with self.assertRaisesRegex(TypeError, "embedding: argument 'max_norm' can only be None here, got 1.0"):
            F.embedding(x, w, max_norm=1.0)
        self.same(th.cdist(w, w, compute_mode="donot_use_mm_for_euclid_dist"), th.cdist(w, w))
        self.assertEqual(F.interpolate(th.rand(1, 1, 2, 2), scale_factor=2, antialias=False).shape, (1, 1, 4, 4))

    def test_nn_functional_has_functions_of_its_own(self):
        x = th.tensor([-1.0, 2.0])
        self.assertEqual(F.relu(x, True).tolist(), [0, 2])
        self.assertEqual(x.tolist(), [0, 2])
        self.assertEqual(F.leaky_relu(th.tensor([-1.0]), 0.5, inplace=False).tolist(), [-0.5])
        self.assertEqual(F.unfold(th.rand(1, 2, 4, 4), kernel_size=(2, 2)).shape, (1, 8, 9))
        image = th.rand(1, 1, 2, 2)
        self.same(F.upsample_bilinear(image, scale_factor=2), F.interpolate(image, scale_factor=2, mode="bilinear", align_corners=True))
        self.assertEqual(F.adaptive_avg_pool2d(th.rand(1, 1, 4, 6), (None, 2)).shape, (1, 1, 4, 2))

    def test_transposes_and_conversions(self):
        x = th.rand(2, 3)
        self.same(x.mH, x.T)
        self.same(x.H, x.T)
        copied = x.to("cpu", th.float32, False, True)
        copied.zero_() if hasattr(copied, "zero_") else copied.fill_(0)
        self.assertNotEqual(x.sum().item(), 0)
        self.same(th.special.expit(x), th.sigmoid(x))

    def test_memory_formats_that_ask_for_nothing_are_taken(self):
        x = th.rand(1, 2, 2, 2)
        for format in (th.contiguous_format, th.preserve_format, None):
            for made in (x.clone(memory_format=format), x.contiguous(memory_format=format), th.zeros_like(x, memory_format=format), x.to(th.float64, memory_format=format),
                         x.double(memory_format=format), th.empty([1, 2, 2, 2], memory_format=format)):
                self.assertEqual(made.shape, x.shape)
        nn.Linear(2, 2).to(memory_format=th.contiguous_format)
        for call in (lambda: x.clone(memory_format="channels_last"), lambda: x.to(memory_format=3), lambda: th.ones_like(x, memory_format=1)):
            with self.assertRaisesRegex(TypeError, "memory_format' must be thunder.contiguous_format or thunder.preserve_format"):
                call()
        with self.assertRaisesRegex(TypeError, "memory_format"):
            th.sum(x, memory_format=th.contiguous_format)

    def test_layers_take_what_functions_take(self):
        x = th.rand(1, 2, 4, 6)
        self.assertEqual(nn.AdaptiveAvgPool2d((None, 2))(x).shape, (1, 2, 4, 2))
        self.assertEqual(nn.AdaptiveMaxPool2d((3, None))(x).shape, (1, 2, 3, 6))
        self.assertEqual(F.adaptive_avg_pool2d(x, None).shape, x.shape)
        log_probs, targets = th.rand(5, 2, 4).log_softmax(-1), th.tensor([[1, 2], [3, 0]])
        lengths = th.tensor([5, 4]), th.tensor([2, 1])
        for given in (((5, 4), (2, 1)), ([5, 4], [2, 1]), lengths):
            self.same(nn.CTCLoss()(log_probs, targets, *given), F.ctc_loss(log_probs, targets, *lengths))

    def test_activations_of_transformers_may_be_functions(self):
        for given, name in ((F.relu, "relu"), (F.gelu, "gelu"), (th.gelu, "gelu"), (nn.GELU(), "gelu"), (nn.ReLU(), "relu"), ("gelu", "gelu")):
            self.assertEqual(nn.TransformerEncoderLayer(4, 2, 8, activation=given).activation, name)
        self.assertEqual(nn.TransformerDecoderLayer(4, 2, 8, 0.0, F.gelu).activation, "gelu")
        self.assertEqual(nn.Transformer(4, 2, 1, 1, 8, activation=F.gelu).activation, "gelu")
        for given in (F.silu, nn.GELU("tanh"), lambda x: x, None):
            with self.assertRaisesRegex(TypeError, "must be 'relu' or 'gelu', or the function or layer"):
                nn.TransformerEncoderLayer(4, 2, 8, activation=given)

    def test_attention_of_bfloat16_takes_a_boolean_mask_and_gives_weights(self):
        attention = nn.MultiheadAttention(4, 2, batch_first=True)
        x, mask = th.rand(1, 3, 4), th.tensor([[False, True, True], [False, False, True], [False, False, False]])
        y, weights = attention(x, x, x, attn_mask=mask)
        halves = attention.to(th.bfloat16)
        z, narrow = halves(x.bfloat16(), x.bfloat16(), x.bfloat16(), attn_mask=mask)
        self.assertEqual((z.dtype, narrow.dtype), (th.bfloat16, th.bfloat16))
        self.assertLess((z.float() - y).abs().max().item(), 0.05)
        self.assertEqual(narrow[0, 0].tolist(), [1, 0, 0])


if __name__ == "__main__":
    unittest.main()
