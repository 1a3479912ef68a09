"""Random numbers: other ones in each process, and the same after the same seed, compiled or not."""
import subprocess
import sys
import unittest

import thunder as th

DRAWS = """
import sys, thunder as th
from thunder.utils.data import DataLoader, TensorDataset
if sys.argv[1:]: th.manual_seed(int(sys.argv[1]))
seed = th.initial_seed()
order = [int(i) for (batch,) in DataLoader(TensorDataset(th.arange(64)), batch_size=64, shuffle=True) for i in batch]
print(th.rand(8).tolist(), th.nn.Linear(2, 2).weight.tolist(), order, seed, sep="; ")
"""


def drawn(*seed):
    run = subprocess.run([sys.executable, "-c", DRAWS, *map(str, seed)], capture_output=True, text=True, check=True)
    return run.stdout.split("; ")


class Seeds(unittest.TestCase):
    def test_processes_without_a_seed_draw_different_numbers(self):
        for one, other in zip(drawn(), drawn()):
            self.assertNotEqual(one, other)

    def test_a_seed_makes_processes_draw_the_same(self):
        self.assertEqual(drawn(7), drawn(7))

    def test_the_seed_that_was_not_given_repeats_a_process(self):
        first = drawn()
        self.assertEqual(drawn(int(first[-1])), first)

    def test_initial_seed_is_the_seed_that_holds(self):
        th.manual_seed(11)
        th.rand(2)
        self.assertEqual(th.initial_seed(), 11)
        th.seed(-3)
        self.assertEqual(th.initial_seed(), -3)

    def test_generators_draw_beside_the_one_state(self):
        th.seed(5)
        wanted = th.rand(3), th.randn(2)
        th.seed(7)
        alone = th.rand(4).tolist()
        th.seed(7)
        generator = th.Generator().manual_seed(5)
        got = th.rand(3, generator=generator), th.randn(2, generator=generator)
        self.assertEqual([one.tolist() for one in got], [one.tolist() for one in wanted])
        self.assertEqual(th.rand(4).tolist(), alone)
        state = generator.get_state()
        first = th.zeros(3).uniform_(generator=generator).tolist()
        self.assertEqual(th.zeros(3).uniform_(generator=generator.set_state(state)).tolist(), first)
        kept = th.get_rng_state()
        drawn = th.randperm(5).tolist()
        th.set_rng_state(kept)
        self.assertEqual(th.randperm(5).tolist(), drawn)
        halves = [[list(part) for part in th.utils.data.random_split(range(6), [3, 3], generator=th.Generator().manual_seed(2))] for _ in range(2)]
        self.assertEqual(*halves)
        with self.assertRaisesRegex(NotImplementedError, "generator= is for calls outside"):
            th.compile(lambda x: x + th.rand(1, generator=generator))(th.ones(1))


class Compiled(unittest.TestCase):
    def test_give_the_same_numbers_compiled_and_not(self):
        def draws():
            return [th.rand(3), th.randn(5), th.dropout(th.ones(8), 0.5, True), th.randperm(6), th.randint(0, 9, [4])]
        for options in ({}, {"fullgraph": False}, {"dynamic": True}):
            th.seed(3)
            want = [[t.tolist() for t in draws()] for _ in range(3)]
            f = th.compile(draws, **options)
            th.seed(3)
            self.assertEqual([[t.tolist() for t in f()] for _ in range(3)], want)

    def test_go_on_behind_parts_of_a_function(self):
        def f():
            a = th.rand(2)
            a.sum().item()
            return a, th.rand(2), th.rand(2)
        g = th.compile(f, fullgraph=False)
        th.seed(3)
        want = [[t.tolist() for t in f()] for _ in range(2)]
        th.seed(3)
        self.assertEqual([[t.tolist() for t in g()] for _ in range(2)], want)

    def test_inside_act_at_each_call_or_are_refused(self):
        def f():
            th.seed(3)
            return th.rand(2)
        g = th.compile(f, fullgraph=False)
        self.assertEqual(g().tolist(), g().tolist())
        with self.assertRaisesRegex(th.Error, "fullgraph=False, where it acts at each call"):
            th.compile(f)()


def layer():
    th.seed(1)
    return th.nn.Sequential(th.nn.Linear(16, 16), th.nn.Dropout(0.5))


NET, X = layer(), th.ones(16)
PARAMETERS = NET.parameters()
# What draws: a loss of each has a gradient by its argument.
LOSSES = {
    "rand": lambda a: a * th.rand(16), "randn": lambda a: a * th.randn(16), "rand_like": lambda a: a * th.rand_like(a),
    "randn_like": lambda a: a * th.randn_like(a), "randint": lambda a: a * th.randint(0, 99, [16]), "randperm": lambda a: a * th.randperm(16) * th.arange(16),
    "bernoulli": lambda a: a * th.bernoulli(a * 0.5), "multinomial": lambda a: a[:6] * th.multinomial(a, 6),
    "normal_": lambda a: a * th.empty(16).normal_(), "exponential_": lambda a: a * th.empty(16).exponential_(),
    "dropout": lambda a: th.dropout(a, 0.5, True), "rrelu": lambda a: th.nn.functional.rrelu(-a, training=True),
    "gumbel_softmax": lambda a: th.nn.functional.gumbel_softmax(a) * th.arange(16), "a layer": lambda a: NET(a),
    "attention": lambda a: th.nn.functional.scaled_dot_product_attention(*[a.reshape(1, 1, 4, 4)] * 3, dropout_p=0.5),
    "rsample": lambda a: th.distributions.Normal(a, a).rsample(),
    "two": lambda a: th.dropout(a, 0.5, True) * th.rand(16),
}


def on_a_tape(loss, x):
    with th.tape():
        value = loss(x)
        th.grad_of(value, [x])
        return value


def backwards(loss, x):
    leaf = x.clone().requires_grad_()
    with th.tape():
        value = loss(leaf)
        value.backward()
        return value


# What gives the value of a loss beside its gradient, or on its way.
WAYS = {
    "a tape": on_a_tape, "backward": backwards, "value_and_grad": lambda loss, x: th.value_and_grad(loss)(x)[0],
    "func.grad_and_value": lambda loss, x: th.func.grad_and_value(loss)(x)[1], "func.vjp": lambda loss, x: th.func.vjp(loss, x)[0],
    "with wrt": lambda loss, x: th.value_and_grad(lambda: loss(x), wrt=[x])()[0],
    "parameters": lambda loss, x: th.value_and_grad(lambda: loss(x) + 0 * PARAMETERS[0].sum(), wrt=PARAMETERS)()[0],
    "a checkpoint": lambda loss, x: th.value_and_grad(lambda a: th.utils.checkpoint.checkpoint(loss, a))(x)[0],
    "grad of grad": lambda loss, x: inner_value(loss, x),
    "compiled": lambda loss, x: th.compile(th.value_and_grad(loss))(x)[0], "compiled on a tape": lambda loss, x: on_a_tape(th.compile(loss), x),
    "in segments": lambda loss, x: th.compile(th.value_and_grad(loss), fullgraph=False)(x)[0],
}


def inner_value(loss, x):
    seen = []

    def inner(a):
        seen.append(loss(a))
        return seen[-1]
    th.grad(lambda a: th.grad(inner)(a).sum())(x)
    return seen[0]


def state():
    return th.random_state().tolist()


class Gradients(unittest.TestCase):
    def test_draw_what_the_value_alone_draws_and_advance_as_it_does(self):
        for name, draw in LOSSES.items():
            def loss(a):
                return draw(a).sum()
            th.seed(5)
            wanted = [(loss(X).item(), state()) for _ in range(3)]
            self.assertEqual(len({value for value, _ in wanted}), 3, name)
            for way, value_of in WAYS.items():
                with self.subTest(draw=name, way=way):
                    th.seed(5)
                    got = [(value_of(loss, X).item(), state()) for _ in range(3)]
                    self.assertEqual([at for _, at in got], [at for _, at in wanted])
                    for (value, _), (right, _) in zip(got, wanted):
                        self.assertAlmostEqual(value, right, delta=1e-4 * abs(right))

    def test_of_transforms_draw_other_numbers_at_each_call(self):
        def dropped(a):
            return th.dropout(a, 0.5, True)

        def cubed(a):
            return (dropped(a) ** 3).sum()
        batch = th.ones(4, 16)
        for name, f in {"jacrev": lambda: th.func.jacrev(dropped)(X), "jacfwd": lambda: th.func.jacfwd(dropped)(X), "hessian": lambda: th.func.hessian(cubed)(X),
                        "jvp": lambda: th.func.jvp(dropped, (X,), (X,))[1], "vmap": lambda: th.vmap(dropped, randomness="different")(batch),
                        "the same for all": lambda: th.vmap(dropped, randomness="same")(batch),
                        "vmap of grad": lambda: th.vmap(th.grad(cubed), randomness="different")(batch)}.items():
            with self.subTest(name):
                th.seed(5)
                before = state()
                drawn = [f().tolist() for _ in range(3)]
                self.assertEqual([drawn.count(one) for one in drawn], [1, 1, 1])
                self.assertGreater(state()[1], before[1] + 2)

    def test_on_one_tape_draw_what_comes_next_also_after_a_seed(self):
        def draws():
            first = th.rand(2)
            th.seed(9)
            return [t.tolist() for t in (first, th.rand(2), th.rand(2, generator=th.Generator().manual_seed(4)), th.randn(3))]
        th.seed(5)
        wanted = draws(), state()
        th.seed(5)
        with th.tape():
            got = draws()
        self.assertEqual((got, state()), wanted)

    def test_of_a_dropped_tape_train_all_weights(self):
        weights = th.ones(32)
        for _ in range(20):
            weights = weights - 0.1 * th.grad(lambda w: (th.dropout(w, 0.5, True) ** 2).sum())(weights)
        self.assertLess(weights.max().item(), 1)

    def test_that_are_differentiated_later_keep_what_was_drawn(self):
        with th.tape():
            x = th.ones(16)
            kept = th.dropout(x, 0.5, True)
            first = th.grad_of((kept ** 3).sum(), [x])[0]
            th.rand(3), th.seed(8)
            second = th.grad_of(first.sum(), [x])[0]
            self.assertEqual(second.tolist(), (kept * 24).tolist())


if __name__ == "__main__":
    unittest.main()
