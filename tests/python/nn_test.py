"""Layers, optimisers and data in Python."""
import copy
import gc
import os
import pickle
import tempfile
import unittest
import weakref

import numpy as np
import thunder as th
from thunder import data, nn, optim

th.seed(0)  # the same numbers at each run


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc1 = nn.Linear(3, width)
        self.fc2 = nn.Linear(width, 2)
        self.scale = nn.Parameter(th.ones(2))
        self.register_buffer("calls", th.zeros(1))
        self.activation = th.relu

    def forward(self, x, *, shift=None):
        y = self.fc2(self.activation(self.fc1(x))) * self.scale
        return y if shift is None else y + shift


def in_temporary(name):
    return os.path.join(tempfile.mkdtemp(), name)


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

    def test_modules_are_not_pickled(self):
        with self.assertRaisesRegex(TypeError, "Linear: .*deepcopy"):
            pickle.dumps(nn.Linear(2, 2))

    def test_a_deep_copy_computes_the_same_and_shares_nothing(self):
        net = Net()
        net.sizes, net.again = [1], net.fc1
        made = copy.deepcopy(net)
        x = th.randn(2, 3)
        wanted = net(x).tolist()
        self.assertEqual(made(x).tolist(), wanted)
        self.assertIsInstance(made, Net)
        self.assertIs(made.fc1, made.again)
        self.assertIsNot(made.sizes, net.sizes)
        self.assertEqual(list(made.state_dict()), list(net.state_dict()))
        for tensor in net.parameters():
            tensor.copy_(th.zeros_like(tensor))
        self.assertEqual(th.compile(made)(x).tolist(), wanted)
        both = copy.deepcopy([net.fc1, net])
        self.assertIs(both[0], both[1].fc1)
        both[0].weight.copy_(th.ones(4, 3))
        self.assertEqual(both[1].state_dict()["fc1.weight"].tolist(), th.ones(4, 3).tolist())
        own = nn.Module(fc=nn.Linear(3, 1))
        own.set_forward(lambda self, y: self.fc(y))
        made = copy.deepcopy(own)
        wanted = own(x).tolist()
        own.fc.weight.copy_(th.zeros(1, 3))
        self.assertEqual(made(x).tolist(), wanted)

    def test_a_deep_copy_and_another_dtype_train_what_the_module_trains(self):
        def state(net):
            return {name: (p.requires_grad, isinstance(p, nn.Parameter), None if p.grad is None else p.grad.tolist()) for name, p in net.named_parameters()}
        net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        net[0].weight.requires_grad_(False)
        net[2].weight.note = "mine"
        with th.tape():
            net(th.ones(2, 3)).sum().backward()
        net[1].running_mean.requires_grad_()
        self.assertIsNone(net[0].weight.grad)
        self.assertIsNotNone(net[2].weight.grad)
        made, (twice, weight), (alone, again) = copy.deepcopy(net), copy.deepcopy([net, net[2].weight]), copy.deepcopy([net[2].weight, net])
        for one in (made, twice, again):
            self.assertEqual(state(one), state(net))
            self.assertTrue(one[1].running_mean.requires_grad)
            self.assertEqual(one[2].weight.note, "mine")
        self.assertIs(twice[2].weight, weight)
        self.assertIs(again[2].weight, alone)
        made[2].bias.grad.zero_(), made[0].weight.requires_grad_()
        self.assertFalse(net[0].weight.requires_grad)
        self.assertTrue(net[2].bias.grad.abs().sum().item() > 0)
        half = copy.deepcopy(net).to(th.bfloat16)
        self.assertEqual({name: row[:2] for name, row in state(half).items()}, {name: row[:2] for name, row in state(net).items()})
        self.assertIs(half[2].weight.grad.dtype, th.bfloat16)
        given = {name: th.zeros_like(t) for name, t in net.state_dict().items()}
        net.load_state_dict(given, assign=True)
        self.assertEqual([p.requires_grad for p in net.parameters()], [False] + [True] * 5)

    def test_a_deep_copy_has_the_hooks_of_the_module(self):
        seen = []

        class Hooked(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Identity()

            def forward(self, x):
                return self.inner(x)
        net = Hooked()
        handles = [net.register_forward_hook(lambda module, args, output: seen.append(module) or output * 2), net.inner.register_forward_pre_hook(lambda module, args: args[0] + 1),
                   net.inner.register_full_backward_hook(lambda module, given, came: (given[0] * 3,))]
        x = th.ones(2)
        wanted, gradient = net(x).tolist(), th.grad(lambda y: net(y).sum())(x).tolist()
        made = copy.deepcopy(net)
        for handle in handles:
            handle.remove()
        self.assertEqual((made(x).tolist(), th.compile(made)(x).tolist()), (wanted, wanted))
        self.assertEqual(th.grad(lambda y: made(y).sum())(x).tolist(), gradient)
        self.assertIs(seen[-1], made)
        self.assertEqual(net(x).tolist(), [1, 1])

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

    def test_another_dtype_lets_the_old_tensors_go(self):
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(th.ones(3))

        net = nn.Sequential(Scale(), Scale())
        old = [weakref.ref(p) for p in net.parameters()]
        net.to(th.bfloat16)
        self.assertEqual([p() for p in old], [None, None])
        self.assertIs(net[0].weight, next(iter(net.parameters())))

    def test_modules_take_another_dtype(self):
        net = Net()
        self.assertIs(net.to(th.bfloat16), net)
        self.assertEqual({tensor.dtype for tensor in net.parameters()}, {th.bfloat16})
        self.assertEqual(net(th.ones(1, 3).bfloat16()).dtype, th.bfloat16)
        self.assertEqual(net.double().to("cpu", dtype=th.float32).fc1.weight.dtype, th.float32)
        self.assertEqual(net.to("cpu", th.float64).fc1.weight.dtype, th.float64)
        with self.assertRaises((TypeError, th.Error)):
            net.to(th.int64)
        self.assertEqual(net.fc1.weight.dtype, th.float64)

    def test_the_ops_are_nn_functional_too(self):
        import thunder.nn.functional as F
        self.assertIs(F.cross_entropy, th.cross_entropy)
        self.assertIs(nn.functional, F)


class Training(unittest.TestCase):
    def test_one_compiled_step_trains(self):
        th.seed(0)
        net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        params = net.parameters()
        opt = optim.AdamW(params, lr=1e-2)
        schedule = optim.CosineAnnealingLR(opt, T_max=200)

        @th.compile
        def step(x, y):
            loss = th.mse_loss(net(x), y)
            gradients, _ = th.clip_grad_norm(th.grad_of(loss, params), 1.0)
            opt.step(gradients)
            return loss
        x = th.rand(64, 2)
        y = x[:, :1] * x[:, 1:]
        first = step(x, y).item()
        for _ in range(200):
            last = step(x, y).item()
            schedule.step()
        self.assertLess(last, first / 10)
        self.assertEqual(th.stats(step)["misses"], 1)
        self.assertLess(opt.lr, 1e-4)

    def test_options_by_position_and_groups(self):
        first, second = th.ones(2), th.ones(3)
        self.assertAlmostEqual(optim.SGD([first], 0.25, 0.5).momentum, 0.5)
        opt = optim.SGD([{"params": [first]}, {"params": [second], "lr": 1.0}], 0.5)
        schedule = optim.lr_scheduler.StepLR(opt, 1, 0.5)
        self.assertEqual(schedule.get_last_lr(), [0.5, 1.0])
        opt.step([[th.ones(2)], [th.ones(3)]])
        self.assertEqual((first.tolist(), second.tolist()), ([0.5] * 2, [0.0] * 3))
        schedule.step()
        self.assertEqual([group["lr"] for group in opt.param_groups], schedule.get_last_lr())
        self.assertEqual(schedule.get_last_lr(), [0.25, 0.5])
        opt.param_groups[1]["lr"] = 2.0
        opt.step([[th.zeros(2)], [th.ones(3)]])
        self.assertEqual(second.tolist(), [-2.0] * 3)
        opt.add_param_group({"params": [th.ones(1)], "momentum": 0.5})
        self.assertEqual((len(opt.param_groups), opt.param_groups[2]["momentum"]), (3, 0.5))
        self.assertIs(opt.param_groups[1]["params"][0], second)
        self.assertEqual(dict(opt.param_groups[1]), {"params": [second], "lr": 2.0, "step": 2.0, "momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0,
                                                    "nesterov": False, "maximize": False})
        self.assertEqual(optim.lr_scheduler.StepLR(optim.SGD([first], 0.1), 1).get_last_lr(), [0.1])
        for wrong, why in ((lambda: optim.SGD([first], 0.1, lr=1.0), "'lr' is given by position and by name"),
                           (lambda: optim.SGD([first], *range(9)), "takes at most"),
                           (lambda: opt.add_param_group({"lr": 1.0}), "a parameter group is a dict"),
                           (lambda: optim.SGD(first, 0.1), "not one tensor")):
            with self.assertRaisesRegex(TypeError, why):
                wrong()
        with self.assertRaises(th.Error):
            opt.add_param_group({"params": [first]})

    def test_a_copy_in_bfloat16_trains_weights_in_float32(self):
        th.seed(5)
        x, y = th.randn(64, 16), th.randint(0, 4, [64])
        net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm([64]), nn.Linear(64, 4))
        plain, half = copy.deepcopy(net), copy.deepcopy(net).to(th.bfloat16)
        masters, weights, params = net.parameters(), half.parameters(), plain.parameters()
        opt, plain_opt = optim.AdamW(masters, lr=1e-2), optim.AdamW(params, lr=1e-2)

        @th.compile
        def mixed_step(x, y):
            loss = th.cross_entropy(half(x.to(th.bfloat16)).to(th.float32), y)
            opt.step(th.grad_of(loss, weights))
            for weight, master in zip(weights, masters):
                weight.copy_(master)
            return loss

        @th.compile
        def plain_step(x, y):
            loss = th.cross_entropy(plain(x), y)
            plain_opt.step(th.grad_of(loss, params))
            return loss
        first, rounded = plain_step(x, y).item(), mixed_step(x, y).item()
        self.assertLess(abs(first - rounded), 0.05)
        for _ in range(60):
            wanted, reached = plain_step(x, y).item(), mixed_step(x, y).item()
        self.assertLess(max(wanted, reached), first / 20)
        self.assertEqual(th.stats(mixed_step)["misses"], 1)
        for weight, master in zip(weights, masters):
            self.assertEqual((weight.dtype, master.dtype), (th.bfloat16, th.float32))
            self.assertEqual(weight.tolist(), master.to(th.bfloat16).tolist())

    def test_options_and_numbers_of_an_optimiser(self):
        w = th.ones(2)
        opt = optim.SGD([w], lr=0.5)
        opt.step([th.ones(2)])
        self.assertEqual(w.tolist(), [0.5, 0.5])
        opt.lr = 1.0
        opt.step([th.ones(2)])
        self.assertEqual(w.tolist(), [-0.5, -0.5])
        self.assertIn("lr", opt.state_dict())
        with self.assertRaisesRegex(TypeError, "did you mean 'momentum'"):
            optim.SGD([w], momentm=0.9)
        with self.assertRaisesRegex(RuntimeError, r"no parameter has a gradient(?s:.*)loss.backward"):
            opt.step()
        with self.assertRaises((th.Error, AttributeError)):
            opt.learning_rate


class Trees(unittest.TestCase):
    def test_tree_map_goes_through_several_trees(self):
        tree = {"a": [1, (2, 3)], "b": ()}
        self.assertEqual(th.tree_map(lambda x, y, z: x + y * z, tree, tree, tree), {"a": [2, (6, 12)], "b": ()})
        for other in ({"a": [1, (2,)], "b": ()}, {"a": [1, (2, 3)]}, {"a": [1, 5], "b": ()}, {"a": {0: 1, 1: (2, 3)}, "b": ()}, 1):
            with self.assertRaisesRegex(ValueError, "tree_map: the trees differ: "):
                th.tree_map(max, tree, other)


class Data(unittest.TestCase):
    def test_batches_are_epochs(self):
        x, y = th.arange(10).float(), np.arange(10)
        batches = data.batches([x, y], size=4, shuffle=True, seed=3)
        self.assertEqual(len(batches), 3)
        epochs = [[int(value) for _, labels in batches for value in labels.tolist()] for _ in range(2)]
        self.assertEqual([sorted(epoch) for epoch in epochs], [list(range(10))] * 2)
        self.assertNotEqual(epochs[0], epochs[1])
        self.assertEqual([batch.shape for batch in data.batches(x, size=5)], [(5,), (5,)])

    def test_a_position_resumes(self):
        batches = data.batches(th.arange(10), size=2, shuffle=True)
        iterator = iter(batches)
        next(iterator)
        state = batches.state()
        second = next(iterator).tolist()
        batches.set_state(state)
        self.assertEqual(next(iter(batches)).tolist(), second)

    def test_a_pipe_is_no_file_and_is_not_waited_for(self):
        path = in_temporary("pipe")
        os.mkfifo(path)
        for read in (th.load, data.csv, data.npy, data.idx):
            with self.assertRaisesRegex(th.Error, "not a regular file"):
                read(path)

    def test_files_round_trip(self):
        path = in_temporary("x.npy")
        data.save_npy(th.arange(3), path)
        self.assertEqual(np.load(path).tolist(), [0, 1, 2])
        self.assertEqual(data.npy(path).tolist(), [0, 1, 2])
        path = in_temporary("x.safetensors")
        th.save({"a": th.ones(2)}, path)
        self.assertEqual(th.load(path)["a"].tolist(), [1, 1])
        th.save({"": th.zeros(2), "a": th.ones(2)}, path)
        self.assertEqual({name: tensor.tolist() for name, tensor in th.load(path).items()}, {"": [0, 0], "a": [1, 1]})
        path = in_temporary("x.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("1,2\n3,4\n")
        self.assertEqual(data.csv(path).tolist(), [[1, 2], [3, 4]])
        with self.assertRaises(th.Error) as caught:
            data.csv(path + ".not")
        self.assertEqual(caught.exception.code, th.Code.NOT_FOUND)


if __name__ == "__main__":
    unittest.main()
