"""loss.backward() and what belongs to it: gradients in parameters, steps that take them, tensors that are frozen."""
import unittest

import numpy as np
import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim

th.seed(0)  # the same numbers at each run


def model():
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


def twin(net):
    made = model()
    made.load_state_dict(net.state_dict())
    return made


class Loops(unittest.TestCase):
    def setUp(self):
        self.net, self.x, self.y = model(), th.rand(8, 5), th.randint(0, 3, [8])

    def same(self, a, b, places=1e-6):
        for p, q in zip(a.parameters(), b.parameters(), strict=True):
            np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=places)

    def taped(self, net, opt, forward=None):
        opt.zero_grad()
        with th.tape():
            loss = F.cross_entropy((forward or net)(self.x), self.y)
            loss.backward()
        opt.step()
        return loss

    def by_values(self, net, opt):
        with th.tape():
            loss = F.cross_entropy(net(self.x), self.y)
            gradients = th.grad_of(loss, net.parameters())
        opt.step(gradients)

    def test_backward_and_step_are_what_grad_of_and_step_are(self):
        other = twin(self.net)
        opt, by_values = (optim.AdamW(net.parameters(), lr=0.05) for net in (self.net, other))
        for _ in range(4):
            self.taped(self.net, opt)
            self.by_values(other, by_values)
        self.same(self.net, other)

    def test_gradients_add_up_until_they_are_cleared(self):
        weight = self.net[0].weight
        for times in (1, 2, 3):
            with th.tape():
                F.cross_entropy(self.net(self.x), self.y).backward()
            first = weight.grad.numpy() if times == 1 else first
            np.testing.assert_allclose(weight.grad.numpy(), times * first, rtol=1e-5)
        self.net.zero_grad(set_to_none=False)
        self.assertEqual(abs(weight.grad.numpy()).max(), 0)
        self.net.zero_grad()
        self.assertIsNone(weight.grad)

    def test_a_compiled_module_on_a_tape_gives_the_same(self):
        other = twin(self.net)
        compiled = th.compile(other)
        opt, of_other = (optim.SGD(net.parameters(), lr=0.1) for net in (self.net, other))
        for _ in range(3):
            self.taped(self.net, opt)
            self.taped(other, of_other, compiled)
        self.same(self.net, other)
        self.assertEqual(th.stats(compiled)["misses"], 1)

    def steps(self, body):
        """Three compiled steps beside three on tapes."""
        other = twin(self.net)
        opt, of_other = (optim.SGD(net.parameters(), lr=0.1, momentum=0.9) for net in (self.net, other))
        step = th.compile(lambda x, y: body(other, of_other, x, y))
        for _ in range(3):
            self.taped(self.net, opt)
            step(self.x, self.y)
        self.same(self.net, other)
        return step, other

    def test_a_whole_loop_is_compiled(self):
        def body(net, opt, x, y):
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            opt.zero_grad()
            return loss
        step, net = self.steps(body)
        self.assertEqual(th.stats(step)["misses"], 1)
        self.assertIsNone(net[0].weight.grad)

    def test_a_compiled_loop_that_clears_first_leaves_gradients(self):
        def body(net, opt, x, y):
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
        step, net = self.steps(body)
        self.assertEqual(th.stats(step)["misses"], 1)
        before = net[0].weight.grad.numpy().copy()
        step(self.x, self.y)
        self.assertGreater(abs(net[0].weight.grad.numpy() - before).max(), 0)

    def test_a_compiled_backward_adds_to_what_is_there(self):
        accumulate = th.compile(lambda x, y: F.cross_entropy(self.net(x), y).backward())
        for times in (1, 2, 3, 4):
            accumulate(self.x, self.y)
            now = self.net[0].weight.grad.numpy().copy()
            first = now if times == 1 else first
            np.testing.assert_allclose(now, times * first, rtol=1e-4, atol=1e-7)
        self.assertLessEqual(th.stats(accumulate)["misses"], 2)

    def test_a_compiled_backward_refuses_arguments_that_it_gives_no_gradient(self):
        weight = nn.Parameter(th.ones(2))

        @th.compile
        def step(x):
            (x * weight).sum().backward()
            return x * 1
        for x in (th.ones(2), th.ones(2)):  # the trace, and a call of its program
            step(x)
            with self.assertRaisesRegex(RuntimeError, r"an argument of the compiled function, \(2,\) of thunder.float32, requires grad.*call it outside"):
                step(x.requires_grad_())
        self.assertEqual(weight.grad.tolist(), [2, 2])

    def test_what_the_loss_does_not_depend_on_has_no_gradient(self):
        unused = nn.Linear(5, 5)
        with th.tape():
            unused(self.x)  # read, but for nothing
            self.net(self.x).sum().backward()
        self.assertIsNone(unused.weight.grad)
        moved = unused.weight.numpy().copy()
        opt = optim.AdamW([*self.net.parameters(), *unused.parameters()], lr=0.1, weight_decay=0.5)
        opt.step()
        self.assertTrue(np.array_equal(unused.weight.numpy(), moved))

    def test_detach_and_no_grad_end_what_depends(self):
        first, second = nn.Linear(5, 5), nn.Linear(5, 1)
        with th.tape():
            with th.no_grad():
                quiet = first(self.x)
            (second(quiet) + second(first(self.x).detach())).sum().backward()
        self.assertIsNone(first.weight.grad)
        self.assertIsNotNone(second.weight.grad)

    def test_clipping_bounds_what_is_kept(self):
        with th.tape():
            (self.net(self.x) * 100).sum().backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.assertGreater(norm.item(), 1)
        total = sum((p.grad ** 2).sum().item() for p in self.net.parameters())
        self.assertAlmostEqual(total, 1, 3)
        nn.utils.clip_grad_value_(self.net.parameters(), 0.01)
        self.assertLessEqual(max(abs(p.grad.numpy()).max() for p in self.net.parameters()), 0.01)

    def test_lbfgs_takes_a_closure_as_pytorch_has_it(self):
        opt = optim.LBFGS(self.net.parameters(), line_search_fn="strong_wolfe")

        def closure():
            opt.zero_grad()
            with th.tape():
                loss = F.cross_entropy(self.net(self.x), self.y)
                loss.backward()
            return loss
        first = opt.step(closure).item()
        self.assertLess(closure().item(), first / 2)


class Tensors(unittest.TestCase):
    def test_frozen_parameters_have_no_gradient_and_stay(self):
        net, x = model(), th.rand(4, 5)
        step = th.compile(lambda x: th.grad_of(net(x).sum(), net.parameters()))
        self.assertTrue(all(one is not None for one in step(x)))
        net[0].requires_grad_(False)
        self.assertEqual([p.requires_grad for p in net.parameters()], [False, False, True, True])
        self.assertEqual([one is None for one in step(x)], [True, True, False, False])
        kept = net[0].weight.numpy().copy()
        opt = optim.AdamW(net.parameters(), lr=0.1)
        with th.tape():
            net(x).sum().backward()
        opt.step()
        self.assertIsNone(net[0].weight.grad)
        self.assertTrue(np.array_equal(net[0].weight.numpy(), kept))
        net.requires_grad_(True)
        self.assertTrue(all(one is not None for one in step(x)))

    def test_a_tensor_that_requires_grad_has_one(self):
        x = th.tensor([1.0, 2.0], requires_grad=True)
        with th.tape(), th.no_grad():
            in_region = x[1:]
        with th.tape():
            self.assertEqual([one.requires_grad for one in (x, x * 2, x[1:], in_region)], [True, False, False, False])
        with th.tape():
            (x ** 3).sum().backward()
        self.assertEqual(x.grad.tolist(), [3, 12])
        with th.tape():
            y = x * 2
            y.backward(th.tensor([1.0, 10.0]))
        self.assertEqual(x.grad.tolist(), [5, 32])
        x.grad = None
        self.assertIsNone(x.grad)
        with self.assertRaisesRegex(RuntimeError, "real numbers"):
            th.tensor([1]).requires_grad_()
        with self.assertRaisesRegex(RuntimeError, "a tensor like its own"):
            x.grad = th.ones(3)

    def test_autograd_grad_of_gradients(self):
        x = th.tensor([1.0, 2.0, 3.0])
        with th.tape():
            y = x ** 3
            first, = th.autograd.grad(y, x, th.ones_like(y), create_graph=True)
            second, = th.autograd.grad(first.sum(), x)
        self.assertEqual((first.tolist(), second.tolist()), ([3, 12, 27], [6, 12, 18]))

    def test_backward_reaches_what_a_gradient_in_the_loss_depends_on(self):
        net = nn.Sequential(nn.Linear(2, 3), nn.Softplus(), nn.Linear(3, 1))
        x = th.rand(4, 2).requires_grad_()
        for model in (net, th.compile(net)):
            net.zero_grad()
            with th.tape():
                slope, = th.autograd.grad(model(x).sum(), x, create_graph=True)
                penalty = ((slope ** 2).sum(1) - 1).pow(2).mean()
                wanted = th.grad_of(penalty, net[0].bias)
                penalty.backward()
            self.assertEqual(net[0].bias.grad.tolist(), wanted.tolist())
            self.assertGreater(net[0].bias.grad.abs().sum().item(), 0)

    def test_batches_of_any_size_have_gradients(self):
        w = th.rand(5, 3).requires_grad_()
        for f in (lambda x: x @ w.T, lambda x: nn.functional.embedding((x[:, :1] * 4).long(), w)):
            for options in ({}, {"dynamic": True}, {"fullgraph": False}):
                compiled = th.compile(f, **options)
                for rows in (4, 2, 3, 5, 4):
                    x, found = th.rand(rows, 3), []
                    for model in (f, compiled):
                        w.grad = None
                        with th.tape():
                            model(x).pow(2).sum().backward()
                        found.append(w.grad.numpy())
                    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-5)
                self.assertLessEqual(th.stats(compiled)["misses"], 6)

    def test_what_cannot_be_is_said(self):
        x = th.ones(2).requires_grad_()
        for wrong, why in ((lambda: x.sum().backward(), r"nothing was recorded(?s:.*)with thunder.tape\(\)"),
                           (lambda: optim.SGD([x], lr=1.0).step(), r"no parameter has a gradient(?s:.*)loss.backward"),
                           (lambda: nn.utils.clip_grad_norm_([x], 1.0), "no parameter has a gradient")):
            with self.assertRaisesRegex(RuntimeError, why):
                wrong()
        for wrong, why in ((lambda: (x * 2).backward(), "with one element"), (lambda: th.ones(1).backward(), "depends on nothing"),
                           (lambda: th.grad_of(th.ones(2).requires_grad_(False).sum(), th.ones(2).requires_grad_(False)), "nothing of this requires grad")):
            with th.tape(), self.assertRaisesRegex(RuntimeError, why):
                wrong()


class Groups(unittest.TestCase):
    def test_options_of_a_group_can_be_written(self):
        w = th.ones(2)
        opt = optim.AdamW([w], lr=0.0)
        step = th.compile(lambda g: opt.step([g]))
        step(th.zeros(2))
        group = opt.param_groups[0]
        self.assertEqual((group["betas"], group["weight_decay"], group["amsgrad"]), ((0.9, 0.999), 0.01, False))
        group["weight_decay"], group["lr"], group["betas"] = 0.5, 1.0, (0.5, 0.9)
        step(th.zeros(2))
        self.assertEqual((w.tolist(), group["betas"]), ([0.5, 0.5], (0.5, 0.9)))
        self.assertEqual(set(group), {"params", "lr", "step", "betas", "eps", "weight_decay", "amsgrad", "maximize"})
        for name, value, why in (("weight_decay", -1.0, "must not be negative"), ("betas", (0.5,), "are 2 numbers"), ("wd", 1.0, "unknown value 'wd'")):
            with self.assertRaisesRegex(Exception, why):
                group[name] = value


if __name__ == "__main__":
    unittest.main()
