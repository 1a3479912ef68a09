"""Programs as ONNX models: what onnx.checker says of them, and what ONNX Runtime computes."""
import importlib.util
import os
import tempfile
import unittest

import numpy as np
import thunder as th
from engines_test import Gpt
from thunder import nn, optim

there = all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))
if there:
    import onnx
    import onnxruntime

th.seed(0)


class Cnn(nn.Module):
    """The digits' CNN."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.pool, self.head = nn.MaxPool2d(2), nn.Linear(32 * 4 * 4, 10)

    def forward(self, images):
        x = th.relu(self.norm1(self.conv1(images.unsqueeze(1))))
        x = self.pool(th.relu(self.norm2(self.conv2(x))))
        return self.head(th.dropout(x.flatten(1), 0.5, self.training))


@unittest.skipUnless(there, "onnx and onnxruntime are not installed")
class Exported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "f.onnx")

    def session(self, f, **options):
        th.export_onnx(f, self.path, **options)
        onnx.checker.check_model(self.path, full_check=True)
        return onnxruntime.InferenceSession(self.path, providers=["CPUExecutionProvider"])

    def same(self, f, *inputs, **options):
        """What f gives for the inputs is what ONNX Runtime gives."""
        wanted = f(*(th.tensor(x) for x in inputs))
        session = self.session(f, **options)
        wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
        for got, want in zip(self.run_session(session, inputs), wanted):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-4, atol=1e-4)
        return session

    @staticmethod
    def run_session(session, inputs):
        return session.run(None, {port.name: x for port, x in zip(session.get_inputs(), inputs)})

    def test_a_cnn_gives_the_same_whatever_the_batch(self):
        net = Cnn()
        net.eval()
        f = th.compile(lambda x: net(x), dynamic=True)
        for opset in (17, 18, 21, 23):
            session = self.same(f, np.random.rand(4, 8, 8).astype("f"), opset=opset)
        self.assertEqual(session.get_inputs()[0].shape, ["s0", 8, 8])
        images = np.random.rand(7, 8, 8).astype("f")
        np.testing.assert_allclose(self.run_session(session, [images])[0], f(th.tensor(images)).numpy(), rtol=1e-4, atol=1e-4)

    def test_weights_have_the_names_of_their_modules(self):
        net = nn.Linear(3, 2)
        f = th.compile(lambda x: net(x))
        f(th.ones(1, 3))
        self.session(f)
        self.assertEqual(sorted(w.name for w in onnx.load(self.path).graph.initializer), ["bias", "weight"])

    def test_weights_lie_beside_the_model_on_request(self):
        net = nn.Linear(64, 64)
        f = th.compile(lambda x: net(x))
        self.same(f, np.random.rand(2, 64).astype("f"), external_data=True)
        self.assertGreaterEqual(os.path.getsize(self.path + ".data"), 64 * 64 * 4)
        self.assertLess(os.path.getsize(self.path), 4096)
        offsets = [int(e.value) for w in onnx.load(self.path, load_external_data=False).graph.initializer
                   for e in w.external_data if e.key == "offset"]
        self.assertEqual([o % 4096 for o in offsets], [0, 0])

    def test_a_training_step_trains_in_onnx_runtime_as_here(self):
        net = Cnn()
        opt = optim.AdamW(net.parameters(), lr=4e-3)
        net.train()

        @th.compile
        def step(images, labels):
            loss = th.cross_entropy(net(images), labels)
            opt.step(th.grad_of(loss, net.parameters()))
            return loss

        self.trains(step, np.random.rand(4, 8, 8).astype("f"), np.array([1, 2, 3, 4]))

    def test_a_gpt_step_trains_in_onnx_runtime_as_here(self):
        net = Gpt()
        opt = optim.AdamW(net.parameters(), lr=3e-3)

        @th.compile
        def step(tokens):
            loss = th.cross_entropy(net(tokens[:, :-1]).reshape(-1, 65), tokens[:, 1:].reshape(-1))
            opt.step(th.grad_of(loss, net.parameters()))
            return loss

        self.trains(step, np.random.randint(0, 65, (4, 17)))

    def trains(self, step, *batch):
        """Ten steps of the model, which is given the state that it gave, have our losses."""
        step(*map(th.tensor, batch))
        session = self.session(step)
        outputs = [port.name for port in session.get_outputs()]
        state = {}
        for _ in range(10):
            given = dict(zip([port.name for port in session.get_inputs()], batch))
            results = dict(zip(outputs, session.run(None, given | state)))
            state = {name.removesuffix(".new"): value for name, value in results.items() if name.endswith(".new")}
            ours = step(*map(th.tensor, batch)).item()
            self.assertAlmostEqual(float(results["output"]), ours, delta=1e-4 * max(1, ours))

    def test_what_is_drawn_is_what_the_library_draws(self):
        f = th.compile(lambda x: (th.rand(3, 5), th.randn(7), th.randint(-3, 9, (4,)), th.dropout(x, 0.5, True)))
        x = np.ones(40, "f")
        f(th.tensor(x))
        session = self.session(f)
        for got, want in zip(self.run_session(session, [x]), f(th.tensor(x))):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-6)

    def test_an_op_that_onnx_lacks_is_refused_by_name(self):
        f = th.compile(lambda x: th.linalg.svd(x)[1])
        f(th.ones(2, 2))
        with self.assertRaisesRegex(th.Error, r"export_onnx: prims.svd cannot be written: .*onnx_export_test.py:\d+"):
            th.export_onnx(f, self.path)
        self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    unittest.main()
