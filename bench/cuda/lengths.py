"""What a new length costs a compiled step of a GPT of 12 layers, forward and backward, in bf16: the first call, one that follows, and
the slowest stages of its compile. lengths.py [DEVICE]"""
import sys
import time

import thunder as th
from thunder import nn

LAYERS, WIDTH, HEADS, BATCH = 12, 768, 12, 4
LENGTHS = (100, 200, 136, 264, 312, 504, 88, 440, 376, 72, 456, 328, 1000, 1001, 60)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.c_fc, self.c_out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        y = self.c_attn(self.ln_1(x)).reshape(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        y = th.scaled_dot_product_attention(y[0], y[1], y[2], is_causal=True).transpose(1, 2).reshape(batch, length, WIDTH)
        x = x + self.c_proj(y)
        return x + self.c_out(th.gelu(self.c_fc(self.ln_2(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList([Block() for _ in range(LAYERS)])

    def forward(self, x):
        for block in self.h:
            x = block(x)
        return x


def main(device="cuda"):
    th.seed(1)
    net = Net()
    net.to(device=device, dtype=th.bfloat16)
    params = net.parameters()

    @th.compile(dynamic=True)
    def step(x):
        loss = (net(x) ** 2).mean()
        return (loss, *th.grad_of(loss, params))

    def milliseconds(length):
        x = th.randn(BATCH, length, WIDTH).to(device=device, dtype=th.bfloat16)
        start = time.perf_counter()
        step(x)[0].item()
        return (time.perf_counter() - start) * 1e3

    for length in LENGTHS:
        first, again = milliseconds(length), min(milliseconds(length) for _ in range(3))
        stages = []
        for line in th.explain(step, "stages").splitlines():
            name, rest = line.split(": ", 1)
            stages.append((float(rest.split(" ms")[0]), name))
        slowest = " ".join(f"{name}={ms:.1f}" for ms, name in sorted(stages, reverse=True)[:6])
        print(f"{length:5d}  first {first:7.1f} ms, then {again:5.2f}, stages {sum(ms for ms, _ in stages):7.1f}: {slowest}", flush=True)


main(*sys.argv[1:])
