"""What llama.lua times, in PyTorch, eager, with its fused attention."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

from timed import seconds

LAYERS, WIDTH, HEADS, KEY_HEADS, INNER, VOCABULARY, CONTEXT = 22, 2048, 32, 4, 5632, 32000, 512
HEAD = WIDTH // HEADS


def rotation(positions):
    rates = 10000.0 ** (torch.arange(HEAD // 2, device=positions.device) * (-2.0 / HEAD))
    angles = positions.float().unsqueeze(1) * rates
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.RMSNorm(WIDTH, 1e-5), nn.RMSNorm(WIDTH, 1e-5)
        self.q, self.o = nn.Linear(WIDTH, WIDTH, False), nn.Linear(WIDTH, WIDTH, False)
        self.k, self.v = nn.Linear(WIDTH, KEY_HEADS * HEAD, False), nn.Linear(WIDTH, KEY_HEADS * HEAD, False)
        self.gate, self.up, self.down = nn.Linear(WIDTH, INNER, False), nn.Linear(WIDTH, INNER, False), nn.Linear(INNER, WIDTH, False)

    def forward(self, x, cos, sin, cache=None, positions=None, seen=None):
        batch, length, _ = x.shape
        y = self.norm_1(x)
        q = rotate(self.q(y).view(batch, length, HEADS, HEAD).transpose(1, 2), cos, sin)
        k = rotate(self.k(y).view(batch, length, KEY_HEADS, HEAD).transpose(1, 2), cos, sin)
        v = self.v(y).view(batch, length, KEY_HEADS, HEAD).transpose(1, 2)
        if cache:
            k, v = cache[0].index_copy_(2, positions, k), cache[1].index_copy_(2, positions, v)
        y = F.scaled_dot_product_attention(q, k, v, seen, is_causal=cache is None, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, WIDTH))
        y = self.norm_2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers = nn.Embedding(VOCABULARY, WIDTH), nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.RMSNorm(WIDTH, 1e-5), nn.Linear(WIDTH, VOCABULARY, False)

    def forward(self, tokens, positions=None, caches=None):
        places = torch.arange(tokens.shape[1], device=tokens.device) if positions is None else positions
        cos, sin = rotation(places)
        x = self.embed(tokens)
        seen = None if caches is None else torch.arange(CONTEXT, device=tokens.device) <= positions.unsqueeze(1)
        for i, layer in enumerate(self.layers):
            x = layer(x, cos, sin, caches and caches[i], positions, seen)
        return self.head(self.norm(x))


def measure(batch, length):
    net = Llama().cuda().to(torch.bfloat16)
    rows = torch.randint(0, VOCABULARY, (batch, length + 1), device="cuda")

    def step():
        net.zero_grad()
        F.cross_entropy(net(rows[:, :-1]).flatten(0, 1).float(), rows[:, 1:].flatten()).backward()

    print(f"forward and backward {batch}x{length}: {seconds(step, 10, warmup=3) * 1e3:.1f} ms, {torch.cuda.max_memory_allocated() >> 20} MiB at most")
    with torch.no_grad():
        caches = [[torch.zeros(1, KEY_HEADS, CONTEXT, HEAD, device="cuda", dtype=torch.bfloat16) for _ in range(2)] for _ in range(LAYERS)]
        token, position = torch.ones(1, 1, dtype=torch.long, device="cuda"), torch.tensor([20], device="cuda")
        print(f"decode: {seconds(lambda: net(token, position, caches).argmax(-1), 200, warmup=3) * 1e6:.0f} us a token")


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}")
    measure(*(int(a) for a in sys.argv[1:] or (2, 2048)))
