"""ATen ops by family: results, strides and gradients beside torch's own."""
import unittest

import support

if support.HAVE:
    import torch
    from torch.nn import functional as F

    import thunder

    def r(*shape):
        return torch.randn(*shape, requires_grad=True)


@support.needs_torch
class Ops(support.Beside if support.HAVE else unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_activations_and_their_gradients(self):
        names = ("gelu silu mish hardswish hardsigmoid leaky_relu softplus relu sigmoid tanh elu hardtanh celu selu relu6 softsign "
                 "tanhshrink logsigmoid softshrink hardshrink").split()
        self.same(lambda x: [getattr(F, name)(x) for name in names], r(4, 7))
        self.same(lambda x: F.gelu(x, approximate="tanh"), r(4, 7))
        self.same(F.prelu, r(4, 7), torch.tensor([0.2], requires_grad=True))
        self.same(F.glu, r(4, 8))

    def test_arithmetic_of_reals(self):
        self.same(lambda x, y: (x + y, x - 2 * y, x / y, x**2, torch.add(x, y, alpha=3), torch.rsub(x, y), torch.lerp(x, y, 0.3),
                                torch.addcmul(x, x, y, value=2), x.clamp(-1, 1), torch.where(x > y, x, y), torch.maximum(x, y)), r(4, 7), r(4, 7))

    def test_integers_and_booleans(self):
        self.same(lambda x: (x // 3, x % 5, x / 2, x**2, x.float().mean(), x & 3, x << 1), torch.arange(-5, 9))
        self.same(lambda x: ((x > 0) & (x < 1), ~(x > 0), (x > 0).sum(), (x > 0).any(), (x > 0).all()), torch.randn(10))

    def test_integers_are_filled_with_reals(self):
        self.same(lambda x, m: (x.masked_fill(m, 2.0), x.masked_fill(m, 2)), torch.arange(3), torch.tensor([True, False, True]))
        self.assertFalse(thunder.torch.programs()[-1].__wrapped__.__self__.lines)

    def test_values_are_put_where_a_mask_and_an_index_say(self):
        mask, index = torch.tensor([True, False, True]), torch.tensor([0, 1])
        self.same(lambda x, i, m, values: torch.ops.aten.index_put(x, [None, i, m], values), r(1, 2, 3), index, mask, torch.tensor(2.0))

    def test_memory_is_read_anew_by_resize(self):
        image = torch.randn(2, 3, 4, 5)
        for x in (image, image.contiguous(memory_format=torch.channels_last), torch.randn(3, 4).t()):
            for size in ((4,), (5, 2, 1), (2, 2, 3, 1), (x.numel(),)):
                formats = (torch.contiguous_format, torch.channels_last)[:1 + (len(size) == 4)]
                for kind in formats:
                    self.same(lambda x: torch.ops.aten.resize(x, size, memory_format=kind), x)
                self.same(torch.ops.aten.resize_as, x, torch.randn(size))
        longer = support.compiled(lambda x: torch.ops.aten.resize(x, (3, 4)))(torch.arange(6.0))
        self.assertEqual(longer.flatten()[:6].tolist(), list(range(6)))
        self.assertEqual(longer.shape, (3, 4))

    def test_values_are_put_where_a_mask_holds(self):
        mask = torch.tensor([[True, False, True], [False, True, True]])

        def put(x, m, values):
            x = x.clone()
            x[m] = values
            return x
        for values in (r(4, 5), *map(torch.randn, ((4, 1), (1, 5), (5,), (1,)))):
            self.same(put, r(2, 3, 5), mask, values)
        self.same(put, r(2, 3), mask, r(4))
        self.same(lambda x, m, values: torch.ops.aten.index_put(x, [m], values, True), r(2, 3, 5), mask, r(4, 5))
        self.assertFalse(thunder.torch.programs()[-1].__wrapped__.__self__.lines)
        for count in (3, 6):
            with self.assertRaisesRegex(thunder.Error, "out of range"):
                support.compiled(put)(torch.randn(2, 3), mask, torch.randn(count))

    def test_reductions_over_no_dims_that_were_named_are_over_all(self):
        for name in ("sum", "mean", "var", "std", "nansum"):
            for dim in (None, ()) if name == "sum" else (None,):
                for keepdim in (False, True):
                    self.same(lambda x, f=getattr(torch, name), d=dim, k=keepdim: f(x, dim=d, keepdim=k), r(3, 4))
        self.same(lambda x: (x.amax((), True), torch.linalg.vector_norm(x, 2, None, True), torch.sum(x, None, True, dtype=torch.float64)), r(3, 4))
        self.same(lambda x: torch.sum(x > 0, dim=None, keepdim=True), torch.randn(3, 4))

    def test_common_divisors_are_not_negative(self):
        for dtype in (torch.int8, torch.int32, torch.int64):
            x, y = torch.tensor([-4, 6, -9, 0, -12, 127, -128, 0], dtype=dtype), torch.tensor([6, -4, -6, -5, 0, -3, -128, 0], dtype=dtype)
            self.same(lambda x, y: (torch.gcd(x, y), torch.lcm(x, y)), x, y)

    def test_conversions(self):
        self.same(lambda x: (x.long(), x.to(torch.int32), x.half(), x.bool(), x.to(torch.uint8), x.double()), torch.rand(4) * 5)

    def test_reductions(self):
        self.same(lambda x: (x.max(), x.max(1), x.min(0, keepdim=True), x.amax((0, 1)), x.sum(), x.mean(0), x.prod(1), x.logsumexp(1)), r(4, 7))
        self.same(lambda x: (x.var(), x.std(1), torch.var_mean(x, 0), x.norm(), x.norm(1, dim=0), x.argmax(), x.argmin(1)), r(4, 7))
        self.same(lambda x: (x.cumsum(1), x.cumprod(0), x.softmax(-1), x.log_softmax(0)), r(4, 7))
        self.same(lambda x: (x.topk(3), x.sort(), x.argsort(descending=True)), r(4, 7))

    def test_norms(self):
        self.same(lambda x, w, b: F.layer_norm(x, (7,), w, b), r(4, 7), r(7), r(7))
        self.same(lambda x, w, b: F.group_norm(x, 2, w, b), r(4, 6, 5), r(6), r(6))
        self.same(lambda x, w: F.rms_norm(x, (7,), w), r(4, 7), r(7))
        self.same(F.instance_norm, r(4, 3, 5, 5), tolerance=1e-4)

    def test_batch_norm_writes_its_statistics(self):
        for training in (True, False):
            self.same(lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b, training), r(4, 3, 5, 5), r(3), r(3), torch.zeros(3), torch.ones(3),
                      tolerance=1e-4)

    def test_losses(self):
        self.same(F.cross_entropy, r(4, 7), torch.tensor([1, -100, 3, 0]))
        self.same(lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1), r(4, 7), torch.tensor([1, 2, 3, 0]), torch.rand(7))
        self.same(lambda x, t: F.cross_entropy(x, t, reduction="sum"), r(4, 7, 3, 2), torch.randint(0, 7, (4, 3, 2)))
        self.same(lambda x, t: F.nll_loss(x, t, reduction="none"), r(4, 7), torch.randint(0, 7, (4,)))
        self.same(lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y)), r(4, 7), torch.randn(4, 7))
        self.same(lambda x, y: (F.binary_cross_entropy_with_logits(x, y), F.binary_cross_entropy(x.sigmoid(), y)), r(4, 7), torch.rand(4, 7))

    def test_attention(self):
        qkv = [r(2, 3, 6, 8) for _ in range(3)]
        attention = F.scaled_dot_product_attention
        for causal in (False, True):
            self.same(lambda q, k, v: attention(q, k, v, is_causal=causal), *qkv)
        self.same(lambda q, k, v, m: attention(q, k, v, attn_mask=m), *qkv, torch.rand(6, 6) > 0.3)
        self.same(lambda q, k, v, m: attention(q, k, v, attn_mask=m, scale=0.3), *qkv, torch.randn(2, 1, 6, 6))
        self.same(lambda q, k, v: attention(q, k, v, enable_gqa=True), r(2, 4, 6, 8), r(2, 2, 6, 8), r(2, 2, 6, 8))

    def test_convolutions(self):
        for rank, conv in enumerate((F.conv1d, F.conv2d, F.conv3d), 1):
            self.same(lambda x, w, b: conv(x, w, b, stride=2, padding=1), r(2, 4, *[7] * rank), r(6, 4, *[3] * rank), r(6), tolerance=1e-4)
        self.same(lambda x, w: F.conv2d(x, w, groups=4, dilation=2, padding=2), r(2, 4, 9, 9), r(4, 1, 3, 3), tolerance=1e-4)
        self.same(lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1), r(2, 4, 5, 5), r(4, 6, 3, 3), r(6),
                  tolerance=1e-4)

    def test_pools(self):
        self.same(lambda x: (F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, 3), F.adaptive_max_pool2d(x, 2)),
                  r(2, 4, 9, 9))
        self.same(lambda x: (F.max_pool2d(x, 2, return_indices=True), F.max_pool1d(x[0], 3, 2, 1)), r(2, 4, 8, 8))
        self.same(lambda x: F.max_pool3d(x, 2), r(2, 4, 4, 4, 4))
        self.same(lambda x: (F.avg_pool2d(x, 40, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)), r(2, 4, 2, 2))

    def test_images_resized_and_padded(self):
        self.same(lambda x: (F.interpolate(x, scale_factor=2, mode="nearest"), F.interpolate(x, size=(7, 7), mode="bilinear"),
                             F.interpolate(x, size=(7, 7), mode="bicubic")), r(1, 2, 5, 5))
        self.same(lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 1, 2, 0), mode="reflect"), F.pad(x, (1, 1, 2, 0), mode="replicate"),
                             F.pad(x, (1, 1, 1, 1), mode="circular")), r(1, 2, 5, 5))

    def test_indexing(self):
        self.same(lambda x, i: (x[i], x[:, i], x[i, :, i], x[None, i]), r(5, 5, 5), torch.tensor([0, 2, 4]))
        self.same(lambda w, i: F.embedding(i, w, padding_idx=1), r(7, 4), torch.tensor([[1, 2], [3, 1]]))
        self.same(lambda x, i, s: (x.scatter(1, i, s), x.scatter_add(1, i, s), x.gather(1, i), x.scatter(1, i, 2.0)), r(3, 5),
                  torch.tensor([[0, 1], [2, 3], [4, 0]]), r(3, 2))

        def put(x, i, v):
            y = x.clone()
            y[i] = v
            y[:, i] = 1.0
            y[y > 0.5] = 0.25
            return y
        self.same(put, r(5, 5), torch.tensor([0, 2]), r(2, 5))

    def test_shapes(self):
        self.same(lambda x, y: (torch.cat([x, y], 1), torch.stack([x, y]), x.repeat(2, 2), x.roll(1, 0), x.flip(1), x.unfold(1, 2, 1), x.tril(),
                                *x.chunk(2, 1), *x.split([1, 3], 1), x.diagonal(), torch.outer(x[0], y[0])), r(4, 4), r(4, 4))

    def test_products(self):
        self.same(lambda x, y: (torch.einsum("bij,bjk->bik", x, y), x @ y[0], x[0] @ y[0, :, 0]), r(2, 3, 4), r(2, 4, 5))
        self.same(F.linear, r(2, 3, 4), r(5, 4), r(5))

    def test_products_of_groups(self):
        def b(*shape):
            return r(*shape).bfloat16().detach().requires_grad_()
        ends = torch.tensor([8, 8, 24], dtype=torch.int32)
        for a, w in ((b(24, 16), b(3, 16, 8)), (b(16, 24), b(24, 8)), (b(3, 16, 8), b(8, 24))):
            self.same(lambda a, w, ends: F.grouped_mm(a, w, offs=ends), a, w, ends, tolerance=2e-2)
            self.assertIn("prims.grouped_matmul", str(thunder.last_traces(thunder.torch.programs()[-1])[-1]))
        self.same(lambda a, w: F.grouped_mm(a, w), b(3, 16, 8), b(3, 8, 16), tolerance=2e-2)

    def test_created_tensors(self):
        self.same(lambda x: x + torch.linspace(0, 1, 5) + torch.eye(5) + torch.full((5,), 2.0) + torch.arange(5) + torch.zeros_like(x), r(5))
        self.same(lambda x: F.one_hot(x, 5).float(), torch.tensor([1, 3]))

    def test_other_dtypes(self):
        self.same(lambda x, y: F.layer_norm(x @ y, (4,)), r(4, 8).double(), r(8, 4).double())
        self.same(lambda x, y: F.softmax((x @ y).relu(), -1), r(4, 8).bfloat16(), r(8, 4).bfloat16(), tolerance=2e-2)

    def test_no_elements_and_no_dims(self):
        self.same(lambda x: (x + 1, x.sum(), torch.cat([x, x])), torch.randn(0, 3))
        self.same(lambda x: (x + 1, x * x, x.view(1)), torch.tensor(3.0))


if __name__ == "__main__":
    unittest.main()
