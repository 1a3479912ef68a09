"""What a new length costs torch.compile(dynamic=True) of a GPT of 12 layers, forward and backward, in bf16: the first call of each length,
and a later one. torch_lengths.py [BACKEND...]: thunder, inductor."""
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

import thunder.torch  # noqa: F401  makes the backend known

LAYERS, WIDTH, HEADS, BATCH = 12, 768, 12, 4
LENGTHS = (100, 200, 136, 264, 312, 504, 88, 440, 376, 72, 456, 328, 393, 394, 395, 396, 397, 398, 399, 400)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.c_fc, self.c_out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).reshape(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, WIDTH)
        x = x + self.c_proj(y)
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x))))


def main(*backends):
    for backend in backends or ("thunder", "inductor"):
        torch.manual_seed(1)
        torch.compiler.reset()
        model = torch.compile(nn.Sequential(*[Block() for _ in range(LAYERS)]).to("cuda", torch.bfloat16), backend=backend, dynamic=True)

        def milliseconds(length):
            x = torch.randn(BATCH, length, WIDTH, device="cuda", dtype=torch.bfloat16)
            torch.cuda.synchronize()
            start = time.perf_counter()
            model(x).float().sum().backward()
            torch.cuda.synchronize()
            return (time.perf_counter() - start) * 1e3

        first = milliseconds(33)
        new = [milliseconds(length) for length in LENGTHS]
        again = [milliseconds(length) for length in LENGTHS]
        print(f"{backend}: first call {first:.0f} ms; a new length, in turn:", " ".join(f"{ms:.0f}" for ms in new))
        print(f"{backend}: median of the last eight new ones {statistics.median(new[-8:]):.1f} ms, of each again {statistics.median(again):.1f} ms", flush=True)


main(*sys.argv[1:])
