"""A signal each millisecond, as profilers send them, while products and training steps run: for 2 seconds, or as many as
THUNDER_SIGNAL_SECONDS says."""
import os
import signal
import time
import unittest

import numpy as np
import thunder as th
from thunder import nn, optim

th.seed(0)  # the same numbers at each run

SECONDS = float(os.environ.get("THUNDER_SIGNAL_SECONDS", 2))


class Signals(unittest.TestCase):
    def setUp(self):
        self.arrived = 0
        self.before = signal.signal(signal.SIGALRM, self.handler)

    def handler(self, *_):
        self.arrived += 1

    def tearDown(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        self.assertGreater(self.arrived, 20)

    def rounds(self):
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        began = time.monotonic()
        # Handlers run between bytecodes, of which a busy machine runs few: until enough have run, for at most a minute.
        while time.monotonic() < began + SECONDS or (self.arrived <= 20 and time.monotonic() < began + 60):
            yield

    def test_do_not_harm_products(self):
        a, b = th.rand(1500, 1500), th.rand(1500, 1500)
        product = th.compile(lambda x, y: x @ y)
        eager, compiled = (a @ b).numpy(), product(a, b).numpy()
        for _ in self.rounds():
            self.assertTrue(np.array_equal((a @ b).numpy(), eager))
            self.assertTrue(np.array_equal(product(a, b).numpy(), compiled))

    def test_do_not_harm_training_steps(self):
        th.seed(1)
        x, y = th.randn(256, 512), th.randint(0, 10, (256,))

        def trained():
            """The losses of a few steps, from the same start."""
            th.seed(2)
            net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 10))
            opt = optim.AdamW(net.parameters(), lr=1e-3)

            @th.compile
            def step():
                loss = th.cross_entropy(net(x), y)
                opt.step(th.grad_of(loss, net.parameters()))
                return loss

            return [step().item() for _ in range(5)]

        wanted = trained()
        for _ in self.rounds():
            self.assertEqual(trained(), wanted)


if __name__ == "__main__":
    unittest.main()
