"""Engines of others as backends: what is found, one sum, and the training of a small GPT beside our own. Those not here are skipped."""
import unittest

import numpy as np
import thunder as th
from thunder import nn, optim

ENGINES = ("onnxrt", "openxla", "tvm")
there = {name: name in th.list_backends() for name in ENGINES}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.mix(self.norm1(x)).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = th.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(th.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=65, width=32, length=16, blocks=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, 4) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(th.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def losses(backend, steps=20):
    th.seed(7)
    net = Gpt()
    opt = optim.AdamW(net.parameters(), lr=3e-3)

    @th.compile(backend=backend)
    def step(tokens):
        loss = th.cross_entropy(net(tokens[:, :-1]).reshape(-1, 65), tokens[:, 1:].reshape(-1))
        opt.step(th.grad_of(loss, net.parameters()))
        return loss

    random = np.random.RandomState(1)
    text = random.randint(0, 65, 400)
    found = []
    for _ in range(steps):
        starts = random.randint(0, 380, 4)
        found.append(step(th.tensor(np.stack([text[at:at + 17] for at in starts]))).item())
    return found, step


class Engines(unittest.TestCase):
    def each(self, names=ENGINES):
        for name in names:
            with self.subTest(engine=name):
                if not there[name]:
                    self.skipTest(f"{name} is not here")
                yield name

    def test_a_sum_is_run_by_the_engine(self):
        for name in self.each():
            f = th.compile(lambda a, b: a + b, backend=name)
            self.assertEqual(f(th.tensor([1.0, 2.0]), th.tensor([3.0, 5.0])).tolist(), [4, 7])
            self.assertIn(f"by {name}", str(th.last_traces(f)[-1]))

    def test_one_that_is_not_here_says_where_it_was_looked_for(self):
        for name in ENGINES:
            if not there[name]:
                with self.assertRaisesRegex(th.Error, f"executors: {name} is not available here: none of "):
                    th.compile(lambda a: a + a, backend=name)(th.ones(1))

    def test_mixes_with_our_own_executors(self):
        for name in self.each():
            f = th.compile(lambda a: (a.exp() * 2).sum(), executors=f"{name},fusion")
            self.assertAlmostEqual(f(th.zeros(3)).item(), 6, places=5)

    def test_a_small_gpt_trains_as_with_our_executors(self):
        ours = losses("thunder")[0]
        self.assertLess(ours[-1], ours[0])
        for name in self.each(("onnxrt", "openxla")):  # tvm takes minutes to compile it
            got, step = losses(name)
            self.assertIn(f"by {name}", str(th.last_traces(step)[-1]))
            np.testing.assert_allclose(got, ours, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
