"""What gpt2.lua times, in PyTorch, with its fused attention: eager, and what torch.compile makes of the loss.
gpt2.py [SIZE BATCH LENGTH VOCABULARY [MODE ...]]; MODE: eager, default, reduce-overhead, max-autotune."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

from timed import seconds

SIZES = {"gpt2": (12, 768, 12), "gpt2-xl": (48, 1600, 25)}  # layers, width, heads


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).split(width, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.c_proj(y)
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, size, vocabulary):
        super().__init__()
        layers, width, heads = SIZES[size]
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(1024, width)
        self.h, self.ln_f = nn.ModuleList([Block(width, heads) for _ in range(layers)]), nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)


def measure(size, batch, length, vocabulary, dtype, tf32, cast=False, mode="eager"):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.cuda.reset_peak_memory_stats()
    net = GPT2(size, vocabulary).cuda().to(dtype)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    tokens = torch.randint(0, vocabulary, (batch, length + 1), device="cuda")

    def loss_of(tokens):
        with torch.autocast("cuda", torch.bfloat16, enabled=cast):
            logits = net(tokens[:, :-1]).flatten(0, 1).float()
            return F.cross_entropy(logits, tokens[:, 1:].flatten())

    if mode != "eager":
        loss_of = torch.compile(loss_of, mode=mode)

    def step():
        optimizer.zero_grad()
        loss_of(tokens).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    print(f"{mode}: {size} {batch}x{length}, {dtype}, tf32 {'on' if tf32 else 'off'}{', autocast to bfloat16' if cast else ''}: {seconds(step, 20, warmup=5) * 1e3:.1f} ms a step, "
          f"{torch.cuda.max_memory_allocated() >> 20} MiB at most")


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}")
    sizes = sys.argv[1:5] if len(sys.argv) >= 5 else ["gpt2", "8", "512", "256"]
    modes = sys.argv[5:] or ["eager"]
    all_kinds = ((torch.float32, False, False), (torch.float32, True, False), (torch.bfloat16, False, False), (torch.float32, False, True))
    for mode in modes:
        for kind in all_kinds if mode == "eager" else all_kinds[2:]:
            measure(sizes[0], *map(int, sizes[1:]), *kind, mode)
            torch._dynamo.reset()
