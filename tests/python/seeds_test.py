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


if __name__ == "__main__":
    unittest.main()
