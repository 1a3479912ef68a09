"""Lazy modules, losses by a function, and what PyTorch has of BatchNorm for several processes."""
import copy
import unittest

import thunder as th
from thunder import nn


class Lazy(unittest.TestCase):
    def test_becomes_the_plain_class_at_the_first_call(self):
        net = nn.Sequential(nn.LazyConv2d(3, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(5))
        self.assertIsInstance(net[3], nn.LazyLinear)
        self.assertEqual(net.state_dict(), {})
        self.assertEqual(repr(net[3]), "LazyLinear(out_features=5, bias=True)")
        other = copy.deepcopy(net)
        self.assertEqual(net(th.ones(2, 4, 3, 3)).shape, (2, 5))
        self.assertEqual(repr(net[3]), "Linear(in_features=12, out_features=5, bias=True)")
        self.assertIs(type(net[3]), nn.Linear)
        self.assertEqual(net[0].in_channels, 4)
        self.assertEqual(net[0].weight.shape, (3, 4, 2, 2))
        self.assertEqual(list(net.state_dict()), ["0.weight", "0.bias", "3.weight", "3.bias"])
        self.assertEqual(other(th.ones(1, 2, 3, 3)).shape, (1, 5))
        self.assertEqual(other[0].in_channels, 2)

    def test_names_that_were_asked_for_before_are_there_afterwards(self):
        layer = nn.LazyBatchNorm2d()
        self.assertFalse(hasattr(layer, "running_mean"))
        layer(th.ones(2, 3, 4, 4))
        self.assertEqual(layer.running_mean.shape, (3,))
        self.assertEqual(layer.num_features, 3)

    def test_every_lazy_kind_becomes_the_one_that_it_names(self):
        lazy = [kind for kind in nn.kinds if kind.startswith("Lazy")]
        self.assertEqual(len(lazy), 13)
        for kind in lazy:
            options = (3,) if kind == "LazyLinear" else (3, 2) if "Conv" in kind else ()
            dims = 0 if kind == "LazyLinear" else int(kind[-2])
            module = getattr(nn, kind)(*options)
            module(th.ones(2, 4, *[5] * dims))
            self.assertIs(type(module), getattr(nn, kind.removeprefix("Lazy")), kind)

    def test_trains_in_a_compiled_function_after_a_first_call(self):
        layer = nn.LazyLinear(1)
        layer(th.ones(2, 3))
        slope, = th.compile(lambda x: th.grad_of((layer(x) ** 2).mean(), [layer.weight]))(th.ones(2, 3))
        self.assertEqual(slope.shape, (1, 3))


class Losses(unittest.TestCase):
    def test_a_module_may_be_the_distance(self):
        a, p, n = th.randn(3, 4), th.randn(3, 4), th.randn(3, 4)
        by_module = nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance())(a, p, n)
        self.assertAlmostEqual(by_module.item(), nn.TripletMarginLoss()(a, p, n).item(), places=5)
        with self.assertRaisesRegex(ValueError, "margin must be greater than 0, got -1"):
            nn.functional.triplet_margin_with_distance_loss(a, p, n, margin=-1)

    def test_adaptive_softmax_gives_probabilities(self):
        loss = nn.AdaptiveLogSoftmaxWithLoss(6, 10, [3, 6])
        x, t = th.randn(4, 6), th.tensor([0, 4, 9, 2])
        made, all_of = loss(x, t), loss.log_prob(x)
        self.assertEqual(all_of.shape, (4, 10))
        for row, at in enumerate(t.tolist()):
            self.assertAlmostEqual(made.output[row].item(), all_of[row, at].item(), places=5)
        self.assertAlmostEqual(all_of.exp().sum().item(), 4, places=4)
        self.assertEqual(loss.predict(x).tolist(), all_of.argmax(-1).tolist())
        with self.assertRaisesRegex(Exception, "out of range"):
            loss(x, th.tensor([0, 4, 10, 2]))
        with self.assertRaisesRegex(Exception, "cutoffs must be different integers between 1 and n_classes - 1, 9"):
            nn.AdaptiveLogSoftmaxWithLoss(6, 10, [3, 10])

    def test_the_gradient_by_a_limited_embedding_is_that_by_its_rows(self):
        layer = nn.Embedding(4, 2, max_norm=0.1)
        index = th.tensor([1, 1, 3])
        slope, = th.compile(lambda index: th.grad_of(layer(index).sum(), [layer.weight]))(index)
        self.assertEqual(slope.tolist(), [[0, 0], [2, 2], [0, 0], [1, 1]])
        self.assertTrue((layer.weight[1].norm() <= 0.1001).item())


class Sync(unittest.TestCase):
    def test_convert_keeps_tensors_and_modes(self):
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
        mean = net[1].running_mean
        mean.fill_(3.0)
        converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
        self.assertIsInstance(converted[1], nn.SyncBatchNorm)
        mean.fill_(4.0)
        self.assertEqual(converted[1].running_mean.tolist(), [4.0] * 4)
        self.assertFalse(converted[1].training)
        self.assertEqual(list(converted.state_dict()), ["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var",
                                                        "1.num_batches_tracked"])


class Images(unittest.TestCase):
    def test_a_factor_may_be_an_integer(self):
        x = th.ones(1, 1, 2, 3)
        self.assertEqual(nn.functional.interpolate(x, scale_factor=2).shape, (1, 1, 4, 6))
        self.assertEqual(nn.functional.interpolate(x, scale_factor=(2, 1.5)).shape, (1, 1, 4, 4))
        self.assertEqual(nn.functional.interpolate(x, size=(1, 2), mode="bilinear", antialias=True).shape, (1, 1, 1, 2))

    def test_fractional_windows_lie_at_random(self):
        x = th.randn(2, 3, 8, 8)
        y, places = nn.FractionalMaxPool2d(2, output_ratio=0.5, return_indices=True)(x)
        self.assertEqual(y.shape, (2, 3, 4, 4))
        self.assertEqual(x.flatten(2).gather(2, places.flatten(2)).tolist(), y.flatten(2).tolist())
        with self.assertRaisesRegex(Exception, "either output_size or output_ratio"):
            nn.FractionalMaxPool2d(2)(x)


if __name__ == "__main__":
    unittest.main()
