"""no_grad() and its kin: what is computed in them has no gradient, on tapes and in compiled functions, as in PyTorch."""
import unittest

import thunder as th
from thunder import nn

th.seed(0)  # the same numbers at each run

X = th.tensor([3.0])


def gradients_of(loss):
    """By x of a function of it: on a tape, by th.grad, compiled."""
    with th.tape():
        taped, = th.grad_of(loss(X), [X])
    return [taped.item(), th.grad(loss)(X).item(), th.compile(th.grad(loss))(X).item(), th.compile(th.grad(loss), fullgraph=False)(X).item()]


def of_every_element(f):
    """The gradients of the sum of f(x) by x = [[1, 2], [4, 5]]: op by op and compiled, on tapes and by grad()."""
    x, found = th.tensor([[1.0, 2.0], [4.0, 5.0]]).requires_grad_(), []
    for run in (f, th.compile(f), th.compile(f, fullgraph=False)):
        x.grad = None
        with th.tape():
            run(x).sum().backward()
        found.append(x.grad.tolist())
    loss = th.grad(lambda x: f(x).sum())
    return found + [loss(x).tolist(), th.compile(loss)(x).tolist()]


class Writes(unittest.TestCase):
    """PyTorch 2.11 gives the same gradients."""

    def test_in_a_region_leave_the_gradient_what_it_was(self):
        def whole(x):
            v = x * 3
            with th.no_grad():
                v.mul_(2)
            return v

        def part(x):
            v = x * 3
            with th.no_grad():
                v[:, 1] += 5
                v[:, 1:].mul_(1)
            return v * v

        def by_itself(x):
            v = x * 3
            with th.no_grad():
                v += x
            return v * v
        self.assertEqual(of_every_element(whole), [[[3, 3], [3, 3]]] * 5)
        self.assertEqual(of_every_element(part), [[[18, 66], [72, 120]]] * 5)
        self.assertEqual(of_every_element(by_itself), [[[24, 48], [96, 120]]] * 5)

    def test_in_a_region_leave_what_was_computed_before(self):
        def used_before(x):
            v = x * 3
            u = v * v
            with th.no_grad():
                v.fill_(5)
            return u * v

        def row_written(x):
            v = x * 3
            u = v * v
            with th.no_grad():
                v[1].mul_(2)
            return u + v[1]
        self.assertEqual(of_every_element(used_before), [[[117, 288], [792, 1125]]] * 5)
        self.assertEqual(of_every_element(row_written), [[[18, 36], [78, 96]]] * 5)

    def test_of_parameters_in_a_region_leave_gradients_of_losses_before(self):
        bump = th.compile(lambda v: v.add_(4))
        for write in (lambda v: v.fill_(9), lambda v: v[1:].fill_(9), lambda v: v.mul_(2), bump, lambda v: th.add(v, 1.0, out=v)):
            w, v = th.tensor([1.0, 2.0]).requires_grad_(), th.tensor([3.0, 4.0]).requires_grad_()
            with th.tape():
                loss = (w * v).sum()
                with th.no_grad():
                    write(v)
                written = v.tolist()
                loss = loss + (w * v).sum() * 10
                loss.backward()
            self.assertEqual(v.grad.tolist(), [11, 22])
            self.assertEqual(w.grad.tolist(), [3 + 10 * written[0], 4 + 10 * written[1]])

    def test_in_a_region_of_a_function_that_fails_are_undone(self):
        known, new = th.zeros(2), th.zeros(2)

        def f(x):
            kept = (x * known)[x > 0]  # whose size the values decide: op by op, on tapes too
            with th.no_grad():
                known.fill_(7), new[1:].fill_(7), new.add_(1)
            known.mul_(2)
            return kept + th.ones(3)
        for function in (th.compile(f), th.compile(f, dynamic=True)):
            with th.tape(), self.assertRaisesRegex(th.Error, "broadcast"):
                function(th.ones(2).requires_grad_())
            self.assertEqual((known.tolist(), new.tolist()), ([0, 0], [0, 0]))

    def test_through_detach_leave_it_too(self):
        def whole(x):
            v = x * 3
            v.detach().add_(5)
            return v * v

        def part(x):
            v = x * 3
            v.detach()[:, 0] = 5
            return v * v
        self.assertEqual(of_every_element(whole), [[[48, 66], [102, 120]]] * 5)
        self.assertEqual(of_every_element(part), [[[30, 36], [30, 90]]] * 5)


class Regions(unittest.TestCase):
    def test_gradients_do_not_pass_what_a_region_computes(self):
        def loss(x):
            with th.no_grad():
                target = x * x
                with th.enable_grad():
                    also = x * 5
            return (target * x + also).sum()
        self.assertEqual(gradients_of(loss), [14] * 4)

    def test_layers_lists_and_writes_are_covered(self):
        def loss(x):
            written = x * 0
            with th.no_grad():
                written += x * 4
                first, = x.split(1)
                both = th.cat([first, x]).sum()
            return (written * x + both).sum()
        self.assertEqual(gradients_of(loss), [12] * 4)
        net = nn.Sequential(nn.Linear(1, 1), nn.Tanh())
        with th.no_grad():
            net[0].weight.fill_(0.1), net[0].bias.fill_(0.2)

        def semi(x):
            with th.no_grad():
                target = net(x)
            return (net(x) - target - 1).sum()
        with th.tape():
            alone = th.grad_of(net(X).sum(), net.parameters())
            taped = th.grad_of(semi(X), net.parameters())
        compiled = th.compile(lambda x: th.grad_of(semi(x), net.parameters()))(X)
        for a, b, c in zip(alone, taped, compiled):
            self.assertAlmostEqual(a.item(), b.item(), places=6)
            self.assertAlmostEqual(a.item(), c.item(), places=6)

    def test_gradients_asked_for_inside_are_there_and_pass_nothing_on(self):
        def loss(x):
            with th.no_grad():
                slope = th.grad(lambda y: (y ** 3).sum())(x)
                batched = th.func.vmap(lambda y: y * y)(x)
            return (slope * x + batched).sum()
        self.assertEqual(gradients_of(loss), [27] * 4)
        with th.no_grad():
            self.assertEqual(th.grad(lambda x: (x * x).sum())(X).item(), 6)
            with th.tape():
                self.assertEqual(th.grad_of((X * X).sum(), [X])[0].item(), 6)

    def test_compiled_functions_on_a_tape_are_no_part_of_it(self):
        f = th.compile(lambda x: (x * 2).sum())
        with th.tape():
            with th.no_grad():
                constant = f(X)
            self.assertEqual(th.grad_of((X * constant).sum(), [X])[0].item(), 6)


class Forms(unittest.TestCase):
    def test_each_is_a_decorator_with_parentheses_and_without(self):
        for mark in (th.no_grad, lambda f: th.no_grad()(f), th.inference_mode, lambda f: th.inference_mode()(f), lambda f: th.set_grad_enabled(False)(f)):
            doubled = mark(lambda x: x * 2)
            with th.tape():
                self.assertEqual(th.grad_of((doubled(X) * X).sum(), [X])[0].item(), 6)
            self.assertTrue(th.is_grad_enabled())

    def test_the_mode_can_be_asked_for_and_nests(self):
        seen = []
        with th.no_grad():
            seen.append(th.is_grad_enabled())
            with th.enable_grad():
                seen.append(th.is_grad_enabled())
                with th.set_grad_enabled(False):
                    seen.append(th.is_grad_enabled())
                seen.append(th.is_grad_enabled())
            with th.inference_mode(False):
                seen.append(th.is_grad_enabled())
            seen.append(th.is_inference_mode_enabled())
        self.assertEqual(seen, [False, True, False, True, False, True])
        th.set_grad_enabled(False)
        self.assertFalse(th.is_grad_enabled())
        th.set_grad_enabled(True)
        self.assertTrue(th.is_grad_enabled())

    def test_an_error_ends_a_region(self):
        with self.assertRaisesRegex(RuntimeError, "mine"):
            with th.tape(), th.no_grad():
                raise RuntimeError("mine")
        self.assertTrue(th.is_grad_enabled())
        with th.tape():
            th.set_grad_enabled(False)  # ends with the tape at the latest
        self.assertEqual(th.grad(lambda x: (x * x).sum())(X).item(), 6)
        self.assertTrue(th.is_grad_enabled())


if __name__ == "__main__":
    unittest.main()
