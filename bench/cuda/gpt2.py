"""What gpt2.lua times, in PyTorch, eager, with its fused attention. gpt2.py [SIZE BATCH LENGTH VOCABULARY]"""
import sys

import torch
import torch.nn.functional as F
from torch import nn

from timed import seconds

SIZE, BATCH, LENGTH, VOCABULARY = sys.argv[1:] if len(sys.argv) == 5 else ["gpt2", "8", "512", "256"]
BATCH, LENGTH, VOCABULARY = int(BATCH), int(LENGTH), int(VOCABULARY)
LAYERS, WIDTH, HEADS = {"gpt2": (12, 768, 12), "gpt2-xl": (48, 1600, 25)}[SIZE]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.c_fc, self.c_out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).split(WIDTH, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, WIDTH)
        x = x + self.c_proj(y)
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(1024, WIDTH)
        self.h, self.ln_f = nn.ModuleList([Block() for _ in range(LAYERS)]), nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)


def measure(dtype, tf32, cast=False):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.cuda.reset_peak_memory_stats()
    net = GPT2().cuda().to(dtype)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1), device="cuda")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=cast):
            logits = net(tokens[:, :-1]).flatten(0, 1).float()
            loss = F.cross_entropy(logits, tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    print(f"{SIZE} {BATCH}x{LENGTH}, {dtype}, tf32 {'on' if tf32 else 'off'}{', autocast to bfloat16' if cast else ''}: {seconds(step, 20, warmup=5) * 1e3:.1f} ms a step, "
          f"{torch.cuda.max_memory_allocated() >> 20} MiB at most")


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}")
    for kind in ((torch.float32, False), (torch.float32, True), (torch.bfloat16, False), (torch.float32, False, True)):
        measure(*kind)
