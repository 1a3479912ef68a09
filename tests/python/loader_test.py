"""Datasets and DataLoader, as torch.utils.data has them."""
import collections
import threading
import time
import unittest

import numpy as np
import thunder as th
from thunder import nn, optim
from thunder.utils.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, SequentialSampler, Subset,
                                TensorDataset, default_collate, random_split)

th.seed(0)  # the same numbers at each run


class Squares(Dataset):
    """The square of each index, made by a function that tests give."""

    def __init__(self, count, on_read=lambda index: None):
        self.count, self.on_read = count, on_read

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.on_read(index)
        return np.float32(index * index), index


class Count(IterableDataset):
    def __iter__(self):
        return iter(range(5))


class Apart(Dataset):
    """One that other processes can be given."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return th.full([2], float(index))


def numbers(loader):
    return [batch[1].tolist() for batch in loader]


class Drawn(unittest.TestCase):
    def test_a_subset_is_read_in_an_order_of_its_own(self):
        from thunder.utils.data import SubsetRandomSampler
        sampler = SubsetRandomSampler([3, 5, 8, 13], generator=1)
        epochs = [list(sampler) for _ in range(8)]
        self.assertEqual({tuple(sorted(epoch)) for epoch in epochs}, {(3, 5, 8, 13)})
        self.assertGreater(len({tuple(epoch) for epoch in epochs}), 1)
        self.assertEqual(len(sampler), 4)

    def test_weights_say_how_often_an_index_is_drawn(self):
        from thunder.utils.data import WeightedRandomSampler
        drawn = list(WeightedRandomSampler([0.0, 1.0, 3.0], 4000, generator=2))
        self.assertEqual((len(drawn), drawn.count(0)), (4000, 0))
        self.assertAlmostEqual(drawn.count(2) / drawn.count(1), 3, delta=0.5)
        self.assertEqual(sorted(WeightedRandomSampler(th.tensor([0.5, 0.1, 2.0]), 3, replacement=False)), [0, 1, 2])
        for wrong in (lambda: WeightedRandomSampler([1.0], 0), lambda: WeightedRandomSampler([[1.0]], 1), lambda: WeightedRandomSampler([-1.0], 1),
                      lambda: WeightedRandomSampler([1.0, 0.0], 2, replacement=False)):
            with self.assertRaisesRegex(ValueError, "WeightedRandomSampler: "):
                wrong()
        loader = DataLoader(Squares(3), batch_size=2, sampler=WeightedRandomSampler([0, 0, 1], 4))
        self.assertEqual(numbers(loader), [[2, 2], [2, 2]])


class Joined(unittest.TestCase):
    def test_stacked_datasets_give_tuples_or_dicts(self):
        from thunder.utils.data import StackDataset
        self.assertEqual(StackDataset(range(3), "abc")[1], (1, "b"))
        self.assertEqual((StackDataset(n=range(3), t="abc")[2], len(StackDataset(n=range(3)))), ({"n": 2, "t": "c"}, 3))
        for wrong in (lambda: StackDataset(), lambda: StackDataset([1], a=[1]), lambda: StackDataset([1], [1, 2])):
            with self.assertRaisesRegex(ValueError, "StackDataset: "):
                wrong()

    def test_chained_datasets_follow_each_other(self):
        from thunder.utils.data import ChainDataset
        self.assertEqual(list(ChainDataset([Count(), Count()])), [*range(5)] * 2)
        self.assertEqual([batch.tolist() for batch in DataLoader(Count() + Count(), batch_size=4)], [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4]])
        with self.assertRaisesRegex(TypeError, "ChainDataset: .* not list"):
            ChainDataset([[1]])

    def test_a_worker_knows_which_it_is(self):
        from thunder.utils.data import get_worker_info
        seen = []
        loader = DataLoader(Squares(8, lambda index: seen.append(get_worker_info())), batch_size=1, num_workers=2)
        list(loader)
        self.assertEqual({(info.num_workers, info.dataset) for info in seen}, {(2, loader.dataset)})
        self.assertLessEqual({info.id for info in seen}, {0, 1})
        self.assertIsNone(get_worker_info())
        list(DataLoader(Squares(1, lambda index: self.assertIsNone(get_worker_info()))))


class Batches(unittest.TestCase):
    def test_an_epoch_of_tensors_is_every_row_once_in_an_order_of_its_own(self):
        rows = th.arange(10)
        loader = DataLoader(TensorDataset(rows.float(), rows), batch_size=4, shuffle=True)
        first, second = numbers(loader), numbers(loader)
        self.assertEqual([len(batch) for batch in first], [4, 4, 2])
        self.assertEqual(sorted(sum(first, [])), list(range(10)))
        self.assertNotEqual(first, second)
        self.assertIsInstance(next(iter(loader)), list)
        self.assertEqual((len(loader), len(DataLoader(rows, batch_size=4, drop_last=True))), (3, 2))

    def test_each_iteration_is_an_epoch_of_its_own(self):
        rows = th.arange(12)
        for loader in (DataLoader(TensorDataset(rows, rows), 4), DataLoader(rows, 4), th.data.batches([rows], 4), th.data.batches(rows, 4)):
            first = lambda batch: (batch if isinstance(batch, th.Tensor) else batch[0]).tolist()
            for batch in loader:
                break
            self.assertEqual([first(batch) for batch in loader], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
            self.assertEqual([first(next(iter(loader))) for _ in range(4)], [[0, 1, 2, 3]] * 4)
            self.assertEqual([(first(a)[0], first(b)[0]) for a in loader for b in loader], [(a, b) for a in (0, 4, 8) for b in (0, 4, 8)])
            one, other = iter(loader), iter(loader)
            self.assertEqual([first(next(it)) for it in (one, other, one, other)], [[0, 1, 2, 3]] * 2 + [[4, 5, 6, 7]] * 2)

    def test_epochs_that_were_left_have_orders_of_their_own(self):
        made = lambda: th.data.batches([th.arange(64)], 64, shuffle=True, seed=3)
        whole, left = made(), made()
        orders = [next(iter(whole))[0].tolist()] + [batch[0].tolist() for _ in range(2) for batch in whole]
        self.assertEqual(len(set(map(tuple, orders))), 3)
        for order in orders:
            for batch in left:
                self.assertEqual(batch[0].tolist(), order)
                break

    def test_a_position_is_resumed_in_the_middle_of_an_epoch(self):
        batches = th.data.batches([th.arange(10)], 3, shuffle=True, seed=1)
        for epoch in range(2):
            for number, (batch,) in enumerate(batches):
                if epoch == 1 and number == 1:
                    state, rest = batches.state(), []
                elif epoch == 1 and number > 1:
                    rest.append(batch.tolist())
        again = th.data.batches([th.arange(10)], 3, shuffle=True, seed=1)
        again.set_state(state)
        self.assertEqual([batch.tolist() for batch, in again], rest)
        self.assertEqual([batch.tolist() for batch, in again], [batch.tolist() for batch, in batches])

    def test_the_seed_decides_the_order(self):
        def order(generator=None):
            th.seed(3)
            return [numbers(DataLoader(dataset, 2, shuffle=True, generator=generator)) for dataset in
                    (TensorDataset(th.zeros(9), th.arange(9)), Squares(9))]
        self.assertEqual(order(), order())
        self.assertEqual(order(5), order(5))
        self.assertNotEqual(order(5), order(6))

    def test_samples_of_any_dataset_are_stacked(self):
        x, y = next(iter(DataLoader(Squares(3), batch_size=3)))
        self.assertEqual((x.tolist(), x.dtype, y.tolist(), y.dtype), ([0, 1, 4], th.float32, [0, 1, 2], th.int64))
        self.assertEqual([batch.tolist() for batch in DataLoader([1.5, 2, 3], batch_size=2)], [[1.5, 2], [3]])
        Pair = collections.namedtuple("Pair", "a b")
        made = default_collate([{"x": th.ones(2), "n": 1.5, "s": "a", "p": Pair(1, True)}] * 2)
        self.assertEqual((made["x"].shape, made["n"].dtype, made["s"], made["p"].b.tolist()), ((2, 2), th.float64, ["a", "a"], [True, True]))
        with self.assertRaisesRegex(TypeError, "collate_fn"):
            default_collate([object()])
        with self.assertRaisesRegex(ValueError, "differ in length"):
            default_collate([(1, 2), (1,)])

    def test_collate_fn_samplers_and_single_samples(self):
        self.assertEqual(list(DataLoader(range(5), 2, collate_fn=sum)), [1, 5, 4])
        self.assertEqual(list(DataLoader(range(3), batch_size=None)), [0, 1, 2])
        self.assertEqual(list(DataLoader(range(4), batch_sampler=[[3, 1], [0]], collate_fn=list)), [[3, 1], [0]])
        self.assertEqual(list(DataLoader(range(9), 2, sampler=[5, 6, 7], collate_fn=list)), [[5, 6], [7]])
        self.assertEqual(list(BatchSampler(SequentialSampler(range(5)), 2, True)), [[0, 1], [2, 3]])
        drawn = list(RandomSampler(range(5), replacement=True, num_samples=50, generator=0))
        self.assertEqual((len(drawn), set(drawn) <= set(range(5))), (50, True))

    def test_streams_go_in_their_order(self):
        self.assertEqual([batch.tolist() for batch in DataLoader(Count(), batch_size=2)], [[0, 1], [2, 3], [4]])
        self.assertEqual([batch.tolist() for batch in DataLoader(Count(), batch_size=2, num_workers=2, drop_last=True)], [[0, 1], [2, 3]])

    def test_what_cannot_be_is_refused(self):
        for make, why in ((lambda: DataLoader(range(3), shuffle=True, sampler=[1]), "shuffle and sampler"), (lambda: DataLoader(range(3), 0), "batch_size"),
                          (lambda: DataLoader(range(3), num_workers=-1), "num_workers"), (lambda: DataLoader(3), "__getitem__"),
                          (lambda: DataLoader(Count(), shuffle=True), "IterableDataset"),
                          (lambda: DataLoader(range(3), 2, batch_sampler=[[1]]), "batch_sampler decides"),
                          (lambda: TensorDataset(th.ones(2), th.ones(3)), "equal first sizes"), (lambda: random_split(range(3), [1, 1]), "add up to 2")):
            with self.assertRaisesRegex((ValueError, TypeError), why):
                make()


class Workers(unittest.TestCase):
    def test_threads_collect_batches_in_order_and_ahead(self):
        names, together = set(), threading.Barrier(3)

        def read(index):
            names.add(threading.current_thread().name)
            if index < 3:
                together.wait(30)  # three samples are being read at once, or this raises
        loader = DataLoader(Squares(40, read), batch_size=1, num_workers=3, pin_memory=True)
        self.assertEqual(numbers(loader), [[index] for index in range(40)])
        self.assertEqual(len(names), 3)
        self.assertNotIn("MainThread", names)

    def test_each_begins_with_worker_init_fn(self):
        begun = []
        loader = DataLoader(Squares(8, lambda index: time.sleep(0.01)), 1, num_workers=2, worker_init_fn=begun.append)
        self.assertEqual(len(list(loader)), 8)
        self.assertEqual(sorted(begun), [0, 1])

    def test_an_error_of_a_dataset_comes_out_as_itself(self):
        def read(index):
            if index == 5:
                raise KeyError("five")
        for workers in (0, 2):
            with self.assertRaisesRegex(KeyError, "five"):
                list(DataLoader(Squares(9, read), 2, num_workers=workers))

    def test_an_epoch_that_is_left_early_ends_its_threads(self):
        before = threading.active_count()
        epoch = iter(DataLoader(Squares(1000), 1, num_workers=4))
        next(epoch)
        del epoch
        self.assertEqual(threading.active_count(), before)

    def test_processes_collect_batches_too(self):
        loader = DataLoader(Apart(), batch_size=2, num_workers=2, multiprocessing_context="spawn")
        self.assertEqual([batch.tolist() for batch in loader], [[[0, 0], [1, 1]], [[2, 2], [3, 3]]])


class Datasets(unittest.TestCase):
    def test_parts_and_sums(self):
        data = TensorDataset(th.arange(4), th.arange(4) * 10)
        self.assertEqual([t.item() for t in data[1]], [1, 10])
        both = data + Subset(data, [3, 0])
        self.assertIsInstance(both, ConcatDataset)
        self.assertEqual((len(both), both[4][1].item(), both[-1][1].item()), (6, 30, 0))
        parts = random_split(range(10), [7, 3], generator=1)
        self.assertEqual(sorted([*parts[0], *parts[1]]), list(range(10)))
        self.assertEqual([len(part) for part in random_split(range(10), [0.75, 0.25])], [8, 2])

    def test_a_pytorch_loop_trains(self):
        th.seed(0)
        x = th.randn(64, 2)
        loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16, shuffle=True)
        net = nn.Linear(2, 1)
        opt = optim.SGD(net.parameters(), lr=0.1)

        @th.compile
        def step(x, y):
            loss = nn.functional.mse_loss(net(x), y)
            opt.step(th.grad_of(loss, opt_params))
            return loss
        opt_params = net.parameters()
        for _ in range(20):
            for batch in loader:
                loss = step(*batch)
        self.assertLess(loss.item(), 1e-3)
        self.assertEqual(th.stats(step)["misses"], 1)


if __name__ == "__main__":
    unittest.main()
