"""Meshes, collectives and checkpoints of one process. tests/scale has several."""
# covers: bindings/python/thunder/parallel/__init__.py
import tempfile
import unittest

import numpy as np
import thunder as th
from thunder import nn, optim


class Parallel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mesh = th.mesh(data=-1, tensor=1)

    def test_a_process_without_a_launcher_is_alone(self):
        mesh = self.mesh
        self.assertEqual((mesh.size("data"), mesh.index("data"), mesh.size(), mesh.index(), mesh.local_rank), (1, 0, 1, 0, 0))
        self.assertIn("data=1,tensor=1", repr(mesh))
        mesh.barrier()
        mesh.barrier("tensor")

    def test_collectives_of_one_rank_give_what_they_get(self):
        x = th.tensor([1.0, 2.0])
        for f in (lambda t: th.all_reduce(t, "data", "mean"), lambda t: th.all_gather(t, "data"), lambda t: th.broadcast(t, "data"),
                  lambda t: th.reduce_scatter(t, "data"), lambda t: th.pvary(t, "data"), lambda t: th.all_to_all(t, "data"),
                  lambda t: th.ppermute(t, "data", [0], [0]), lambda t: th.barrier(t, "data")):
            np.testing.assert_array_equal(f(x), x)
            np.testing.assert_array_equal(th.compile(f)(x), x)

    def test_a_checkpoint_has_tensors_of_the_callers_and_refuses_numbers(self):
        net, count = nn.Linear(2, 1), th.tensor(3)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(TypeError, r"step must be a tensor, which load\(\) writes into, not int; th.tensor\(3\) is one"):
                th.parallel.save(folder, self.mesh, net, step=3)
            th.parallel.save(folder, self.mesh, net, step=count)
            weight = net.weight.numpy().copy()
            net.weight.zero_(), count.zero_()
            th.parallel.load(folder, self.mesh, net, step=count)
        np.testing.assert_array_equal(net.weight, weight)
        self.assertEqual(count.item(), 3)

    def test_a_data_parallel_step_trains(self):
        for backward in (False, True):
            net = nn.Linear(2, 1)
            opt = optim.SGD(net.parameters(), lr=0.5)

            def train(y):
                loss = net(y).sum()
                if backward:
                    loss.backward()
                    opt.step()
                else:
                    opt.step(th.grad_of(loss, net.parameters()))
                return loss
            x, before = th.tensor([1.0, 2.0]), net.weight.clone()
            th.compile(th.parallel.data(train, self.mesh, net))(x)
            np.testing.assert_allclose(net.weight, before - 0.5 * x, rtol=1e-6)

    def test_micro_batches_have_the_mean_of_their_losses_and_gradients(self):
        net = nn.Linear(2, 1)
        rows = th.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])

        def step(*each):
            return th.parallel.accumulate_gradients(lambda y: (net(y) ** 2).mean(), net.parameters(), [(y,) for y in each])
        loss, (weight, bias) = th.compile(th.parallel.data(step, self.mesh, net))(*[rows[i:i + 1].clone() for i in range(3)])
        whole = (net(rows) ** 2).mean()
        np.testing.assert_allclose(loss.item(), whole.item(), rtol=1e-5)
        error = net(rows).numpy()
        np.testing.assert_allclose(weight, 2 * (error * rows.numpy()).mean(0, keepdims=True), rtol=1e-5)
        np.testing.assert_allclose(bias, [2 * error.mean()], rtol=1e-5)

    def test_a_pipeline_of_one_stage_is_the_model(self):
        mesh, net = th.mesh(stage=1), nn.Linear(2, 1)
        rows = th.tensor([[1.0, 2.0], [3.0, -1.0]])

        def step(a, b):
            return th.parallel.pipeline(net, net.parameters(), lambda y: (y ** 2).mean(), mesh, [(a,), (b,)], th.zeros(1, 1))
        loss, gradients = th.compile(step)(rows[:1].clone(), rows[1:].clone())
        self.assertAlmostEqual(loss.item(), (net(rows) ** 2).mean().item(), places=4)
        np.testing.assert_allclose(gradients[1], [2 * net(rows).numpy().mean()], rtol=1e-5)

    def test_a_fully_sharded_step_trains(self):
        for backward in (False, True):
            net = th.parallel.fully_shard(nn.Linear(2, 1), self.mesh)
            opt = optim.SGD(net.parameters(), lr=0.5)

            def train(y):
                loss = net(y).sum()
                if backward:
                    loss.backward()
                    nn.utils.clip_grad_norm_(net.parameters(), 100.0)
                    opt.step()
                else:
                    opt.step(th.grad_of(loss, net.parameters()))
                return loss
            weight = net.parameters()[0]
            x, before = th.tensor([1.0, 2.0]), weight.clone()
            th.compile(th.parallel.data(train, self.mesh, net))(x)
            np.testing.assert_allclose(weight, before - 0.5 * x, rtol=1e-6)
            with self.assertRaisesRegex(th.Error, "'weight' of a module is a shard.*compiled functions gather it"):
                net(x)

    def test_mistakes_name_what_was_given(self):
        for text, error, f in (("there is no axis 'rows'", ValueError, lambda: self.mesh.size("rows")),
                               ("no axis 'rows'", th.Error, lambda: th.all_reduce(th.ones(2), "rows")),
                               ("data=2 has 2 ranks, and the world 1", th.Error, lambda: th.mesh(data=2)),
                               ("size of axis 'data' must be an int, not float", TypeError, lambda: th.mesh(data=2.0)),
                               ("timeout must be positive", th.Error, lambda: th.mesh(timeout=-1.0)),
                               ("mesh must be a mesh", TypeError, lambda: th.parallel.data(len, None, [])),
                               ("there are no micro-batches", ValueError, lambda: th.parallel.accumulate_gradients(len, [], [])),
                               ("there are no micro-batches", ValueError, lambda: th.parallel.pipeline(len, [], len, self.mesh, [], th.ones(1))),
                               ("is called in a step of th.parallel.data", RuntimeError, lambda: th.parallel.reduce_gradients([], [])),
                               ("module must be a module, not list", TypeError, lambda: th.parallel.fully_shard([], self.mesh)),
                               ("no axis 'rows'", th.Error, lambda: th.parallel.fully_shard(nn.Linear(2, 1), self.mesh, "rows"))):
            with self.assertRaisesRegex(error, text):
                f()


if __name__ == "__main__":
    unittest.main()
