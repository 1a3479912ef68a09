"""Batches and files in Python."""
import os
import unittest

import numpy as np
import thunder as th
from thunder import data
from small_net import in_temporary

th.seed(0)  # the same numbers at each run


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
