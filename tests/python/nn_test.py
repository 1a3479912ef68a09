"""Modules in Python: members, forwards, state, and what they say."""
# covers: bindings/python/thunder/_module.py bindings/python/src/module.c
import gc
import unittest
import weakref

import numpy as np
import thunder as th
from thunder import nn, optim
from small_net import Net, in_temporary

th.seed(0)  # the same numbers at each run


class Modules(unittest.TestCase):
    def test_every_kind_has_a_class_with_its_signature(self):
        self.assertEqual(nn.Linear(3, 4, bias=False)(th.ones(2, 3)).shape, (2, 4))
        self.assertEqual(nn.Conv2d(1, 2, 3, padding=1)(th.ones(1, 1, 4, 4)).shape, (1, 2, 4, 4))
        self.assertEqual(nn.LayerNorm([3])(th.ones(2, 3)).shape, (2, 3))
        self.assertIn("in_features", nn.Linear.__doc__)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'out'"):
            nn.Linear(3, out=4)

    def test_attention_takes_and_gives_what_pytorchs_does(self):
        attention = nn.MultiheadAttention(4, 2, batch_first=True)
        x = th.randn(2, 3, 4)
        result, weights = attention(x, x, x)
        self.assertEqual((result.shape, weights.shape), ((2, 3, 4), (2, 3, 3)))
        np.testing.assert_allclose(np.asarray(weights).sum(-1), 1, atol=1e-6)
        alone, nothing = th.compile(attention)(x, x, x, need_weights=False)
        np.testing.assert_allclose(np.asarray(alone), np.asarray(result), atol=1e-6)
        self.assertIsNone(nothing)
        self.assertEqual([path for path, _ in attention.named_parameters()],
                         ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"])
        self.assertIsInstance(attention.out_proj, nn.Linear)
        self.assertEqual([name for name, _ in attention.named_children()], ["out_proj"])
        self.assertIn("key_padding_mask", nn.MultiheadAttention.__doc__)

    def test_members_are_children_parameters_and_attributes(self):
        net = Net()
        self.assertEqual([path for path, _ in net.named_parameters()], ["scale", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"])
        self.assertEqual([name for name, _ in net.named_children()], ["fc1", "fc2"])
        self.assertEqual([path for path, _ in net.named_buffers()], ["calls"])
        self.assertEqual(net.scale.tolist(), [1, 1])
        self.assertIn("fc1", repr(net))
        with self.assertRaisesRegex(AttributeError, "did you mean"):
            net.fc3
        net.scale = nn.Parameter(th.full([2], 3.0))
        self.assertEqual(net.scale.tolist(), [3, 3])

    def test_members_given_by_name_stay_the_objects_that_they_are(self):
        net = Net()
        outer = nn.Module(net)
        self.assertIs(outer.children()[0], net)
        outer = nn.Module(inside=net)
        self.assertIs(outer.inside, net)
        self.assertEqual(outer.inside(th.ones(1, 3)).tolist(), net(th.ones(1, 3)).tolist())

    def test_a_module_that_was_not_made_says_so(self):
        class Forgetful(nn.Module):
            def __init__(self):
                self.fc = nn.Linear(1, 1)
        with self.assertRaisesRegex(RuntimeError, r"super\(\).__init__\(\)"):
            Forgetful()

    def test_lists_of_modules_hold_them_in_order(self):
        class Deep(nn.Module):
            def __init__(self, depth):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(depth))

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        net, x = Deep(11), th.ones(1, 2)
        self.assertEqual((len(net.layers), len(net.parameters()), len(net.layers[1:3])), (11, 22, 2))
        self.assertIn("layers.10.weight", net.state_dict())
        np.testing.assert_allclose(th.compile(net)(x), nn.Sequential(list(net.layers))(x), rtol=1e-5)
        with self.assertRaisesRegex(NotImplementedError, "ModuleList has no forward"):
            net.layers(x)
        with self.assertRaisesRegex(TypeError, "child 1 is no module"):
            nn.Sequential(nn.ReLU(), th.relu)

    def test_forward_may_be_given_to_one_module(self):
        net = nn.Module(fc=nn.Linear(3, 2))

        @net.set_forward
        def forward(self, x):
            return self.fc(x) * 0
        self.assertEqual(net(th.ones(3)).tolist(), [0, 0])

    def test_the_library_calls_a_forward_in_python(self):
        net = nn.Sequential(Net(), nn.Flatten(0))
        x = th.ones(2, 3)
        self.assertEqual(net(x).tolist(), net[0](x).reshape(-1).tolist())
        self.assertEqual(th.compile(net)(x).tolist(), net(x).tolist())

    def test_an_exception_in_a_forward_below_the_library_comes_out(self):
        class Wrong(nn.Module):
            def forward(self, x):
                raise KeyError("inside")
        with self.assertRaises(KeyError):
            nn.Sequential(Wrong())(th.ones(1))
        self.assertEqual(th.ones(1).item(), 1)

    def test_modules_are_arguments_and_methods_compile(self):
        f = th.compile(lambda net, x: net(x, shift=1))
        net, x = Net(), th.ones(2, 3)
        np.testing.assert_allclose(f(net, x), net(x, shift=1), rtol=1e-6)
        other = Net()
        np.testing.assert_allclose(f(other, x), other(x, shift=1), rtol=1e-6)

        class Compiled(Net):
            @th.compile
            def forward(self, x):
                return super().forward(x)
        net = Compiled()
        self.assertEqual(net(x).shape, (2, 2))

    def test_train_and_eval_are_guarded(self):
        net = nn.Sequential(nn.Dropout(0.5))
        f, x = th.compile(net), th.ones(1000)
        self.assertLess((f(x) == 0).to(th.int64).sum().item(), 700)
        self.assertGreater((f(x) == 0).to(th.int64).sum().item(), 300)
        net.eval()
        self.assertFalse(net[0].training)
        self.assertTrue(f(x).equal(x))

    def test_state_dicts_load_all_or_nothing(self):
        a, b = Net(), Net()
        b.load_state_dict(a.state_dict())
        self.assertTrue(b.fc1.weight.equal(a.fc1.weight))
        wrong = {**a.state_dict(), "fc1.weight": th.zeros(1)}
        wrong["fc1.bias"] = th.full([4], 9.0)
        with self.assertRaises(RuntimeError):
            b.load_state_dict(wrong)
        self.assertTrue(b.fc1.bias.equal(a.fc1.bias))
        with self.assertRaises(RuntimeError):
            b.load_state_dict({})

    def test_saved_weights_load(self):
        a, b, path = Net(), Net(), in_temporary("net.safetensors")
        a.save(path)
        self.assertTrue(b.load(path).fc2.weight.equal(a.fc2.weight))
        self.assertEqual(sorted(th.load(path)), sorted(a.state_dict()))
        with self.assertRaises(th.Error):
            Net(width=5).load(path)

    def test_modules_in_cycles_are_collected(self):
        net = Net()
        net.step = th.compile(lambda x: net(x))
        net.step(th.ones(1, 3))
        kept = weakref.ref(net)
        del net
        gc.collect()
        self.assertIsNone(kept())

    def test_modules_print_their_options_as_in_pytorch(self):
        class Small(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        self.assertEqual(repr(Small()),
                         "Small(\n  (body): Sequential(\n    (0): Linear(in_features=2, out_features=3, bias=True)\n"
                         "    (1): ReLU()\n  )\n)")
        self.assertTrue(repr(optim.SGD([th.ones(1)], 0.5)).startswith("SGD (\nParameter Group 0\n    lr: 0.5\n"))

    def test_unknown_names_say_what_is_near_or_not_here(self):
        for holder, name, why in ((th, "sofmax", "softmax"), (th, "polar", "not in libthunder"), (nn, "Linaer", "Linear"),
                                  (nn, "RNNBase", "not in libthunder"),
                                  (nn.functional, "upsample", "not in libthunder"),
                                  (optim, "Adma", "Adam"), (optim, "SparseAdam", "not in libthunder"),
                                  (optim.lr_scheduler, "OneCycleLr", "OneCycleLR"),
                                  (th.ones(1), "polar", "not in libthunder"), (th.ones(1), "sofmax", "softmax")):
            with self.assertRaisesRegex(AttributeError, why):
                getattr(holder, name)
            self.assertFalse(hasattr(holder, "__no_such__"))

    def test_slices_of_sequences_are_sequences_of_the_same_modules(self):
        net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        head = net[:2]
        self.assertIsInstance(head, nn.Sequential)
        self.assertEqual(len(head), 2)
        x = th.ones(1, 2)
        self.assertEqual(net[2:](head(x)).tolist(), net(x).tolist())
        self.assertIsInstance(nn.ModuleList(net)[1:], nn.ModuleList)

    def test_children_are_taken_away_and_put_in_between(self):
        net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        f, x = th.compile(net), th.ones(1, 2)
        f(x)
        last = net.pop()
        self.assertEqual((len(net), f(x).shape, sorted(net.state_dict())), (2, (1, 3), ["0.bias", "0.weight"]))
        net.insert(1, nn.Threshold(9, 7))
        self.assertEqual(f(x).tolist(), [[7, 7, 7]])
        del net[1], net[-1]
        net.extend([nn.ReLU(), last])
        self.assertEqual((f(x).tolist(), [name for name, _ in net.named_children()]), (net(x).tolist(), ["0", "1", "2"]))
        listed = nn.ModuleList([nn.Linear(1, n) for n in (1, 2, 3)])
        del listed[:2]
        self.assertEqual((len(listed), listed[0].out_features, sorted(listed.state_dict())), (1, 3, ["0.bias", "0.weight"]))
        named = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
        self.assertIsInstance(named.pop("a"), nn.ReLU)
        self.assertEqual((named.keys(), len(list(named.parameters()))), (["b"], 2))
        named.clear()
        with self.assertRaises(KeyError):
            del named["b"]
        own = Net()
        del own.fc2
        self.assertFalse(hasattr(own, "fc2"))
        own.fc1 = None
        self.assertEqual((own.fc1, [name for name in own.state_dict() if name.startswith("fc")]), (None, []))
        layer = nn.Linear(2, 1)
        del layer.bias
        self.assertEqual(sorted(layer.state_dict()), ["weight"])

    def test_training_is_set_where_nothing_is_below(self):
        layer = nn.Dropout(1.0)
        layer.training = False
        self.assertEqual((layer.training, layer(th.ones(1)).item()), (False, 1))
        with self.assertRaisesRegex(AttributeError, r"train\(\) and eval\(\) say"):
            nn.Sequential(layer).training = False

    def test_apply_reaches_every_module(self):
        seen = []
        net = Net()
        self.assertIs(net.apply(seen.append), net)
        self.assertEqual(seen, [net.fc1, net.fc2, net])

    def test_the_ops_are_nn_functional_too(self):
        import thunder.nn.functional as F
        self.assertIs(F.cross_entropy, th.cross_entropy)
        self.assertIs(nn.functional, F)


if __name__ == "__main__":
    unittest.main()
