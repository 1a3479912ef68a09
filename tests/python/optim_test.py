"""Optimisers in Python."""
# covers: bindings/python/src/optimizer.c
import copy
import pickle
import unittest

import thunder as th
from thunder import nn, optim

th.seed(0)  # the same numbers at each run


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

    def test_what_is_not_copied_says_what_to_write(self):
        made = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
        schedule = optim.lr_scheduler.LambdaLR(made, lambda step: 0.9 ** step)
        for one, text in ((made, "SGD: .*by load_state_dict"), (schedule, "LambdaLR: .*functions that a schedule calls are given again")):
            for way in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, text):
                    way(one)

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


if __name__ == "__main__":
    unittest.main()
