"""Batches that come on a CUDA device, with the stand-ins for NVIDIA's libraries or a device."""
import unittest

import thunder as th
from thunder.utils.data import DataLoader, Dataset, TensorDataset


class Squares(Dataset):
    """Samples that are dicts."""

    def __len__(self):
        return 7

    def __getitem__(self, index):
        return {"x": th.full([2], float(index)), "square": index * index, "name": str(index)}


@unittest.skipUnless(th.cuda.is_available(), "no CUDA device: tests of the build with the stand-ins run it")
class Batches(unittest.TestCase):
    def test_are_those_of_the_host(self):
        x, y = th.randn(11, 3), th.arange(11)
        here = th.data.batches([x, y], 4, shuffle=True, seed=5)
        there = th.data.batches([x, y], 4, shuffle=True, seed=5, device="cuda")
        for _ in range(2):
            a, b = list(here), list(there)
            self.assertEqual(len(a), len(b))
            for expected, got in zip(a, b):
                for e, g in zip(expected, got):
                    self.assertEqual(g.device.type, "cuda")
                    self.assertTrue(th.equal(g.to("cpu"), e))

    def test_of_loaders_are_there_whatever_the_dataset_is(self):
        x = th.randn(10, 3)
        for loader in (DataLoader(TensorDataset(x), batch_size=4, device="cuda"),
                       DataLoader([(x[i],) for i in range(10)], batch_size=4, device="cuda", pin_memory=True),
                       DataLoader([(x[i],) for i in range(10)], batch_size=4, device="cuda", num_workers=2)):
            got = [batch[0] for batch in loader]
            self.assertTrue(all(part.device.type == "cuda" for part in got))
            self.assertTrue(th.equal(th.cat([part.to("cpu") for part in got]), x))
        for batch in DataLoader(Squares(), batch_size=3, device="cuda"):
            self.assertEqual((batch["x"].device.type, batch["square"].device.type), ("cuda", "cuda"))
            self.assertIsInstance(batch["name"], list)

    def test_on_a_device_that_is_not_there_are_refused(self):
        with self.assertRaisesRegex(th.Error, "cuda:7"):
            th.data.batches([th.ones(3)], device="cuda:7")


if __name__ == "__main__":
    unittest.main()
