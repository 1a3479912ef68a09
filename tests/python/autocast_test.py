"""Mixed precision by th.autocast."""
import unittest

import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim


class Autocast(unittest.TestCase):
    def setUp(self):
        th.manual_seed(5)
        self.x, self.y = th.randn(64, 16), th.randint(0, 4, (64,))

    def test_trains_weights_of_float32_through_products_of_bfloat16(self):
        net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 4))
        parameters = list(net.parameters())
        opt = optim.AdamW(parameters, lr=1e-2)

        @th.compile
        def step(x, y):
            with th.autocast("cpu", dtype=th.bfloat16):
                logits = net(x)
                self.assertIs(logits.dtype, th.bfloat16)
                loss = F.cross_entropy(logits, y)
            gradients = th.grad_of(loss, parameters)
            self.assertTrue(all(g.dtype is th.float32 for g in gradients))
            opt.step(gradients)
            return loss

        first = step(self.x, self.y).item()
        for _ in range(60):
            last = step(self.x, self.y).item()
        self.assertLess(last, first / 4)
        self.assertTrue(all(p.dtype is th.float32 for p in parameters))

    def test_is_a_region_a_decorator_and_nests(self):
        product = lambda: self.x @ self.x.T  # noqa: E731
        self.assertFalse(th.is_autocast_enabled())
        with th.autocast(device_type="cuda"):
            self.assertIs(th.get_autocast_dtype(), th.bfloat16)
            self.assertIs(product().dtype, th.bfloat16)
            with th.autocast("cuda", enabled=False):
                self.assertIs(product().dtype, th.float32)
            with th.autocast("cuda", th.float16):
                self.assertIs(product().dtype, th.float16)
            with th.tape():
                loss = product().sum()
                self.assertIs(th.grad_of(loss, self.x).dtype, th.float32)
        self.assertIs(product().dtype, th.float32)
        self.assertIs(th.autocast("cuda")(product)().dtype, th.bfloat16)
        with self.assertRaises(ZeroDivisionError), th.autocast("cpu"):
            1 / 0
        self.assertFalse(th.is_autocast_enabled())

    def test_refuses_what_it_cannot_compute_in(self):
        with self.assertRaisesRegex(th.Error, "autocast computes in bf16 or f16"):
            th.autocast("cpu", dtype=th.float64).__enter__()
        with self.assertRaisesRegex(ValueError, "device_type must be 'cpu' or 'cuda', got 'gpu'"):
            th.autocast("gpu")
        with self.assertRaisesRegex(TypeError, "dtype= takes a dtype"):
            th.autocast(th.bfloat16)


if __name__ == "__main__":
    unittest.main()
