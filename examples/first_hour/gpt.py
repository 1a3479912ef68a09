#!/usr/bin/env python3
"""A small GPT that learns a text by its characters, and goes on with it.

    python3 gpt.py [--device cuda] [--steps N]
"""
import argparse

import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim

TEXT = "the quick brown fox jumps over the lazy dog. " * 40
BLOCK, WIDTH, HEADS, LAYERS = 32, 64, 4, 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2, self.attention = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(BLOCK, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        self.apply(self.first_values)

    @staticmethod
    def first_values(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, ids, targets=None):
        x = self.tokens(ids) + self.places(th.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln(x))
        return logits if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @th.no_grad()
    def generate(self, ids, count, temperature=0.5, top_k=5):
        for _ in range(count):
            logits = self(ids[:, -BLOCK:])[:, -1] / temperature
            least = logits.topk(top_k).values[:, -1:]
            probs = F.softmax(logits.masked_fill(logits < least, float("-inf")), dim=-1)
            ids = th.cat([ids, th.multinomial(probs, num_samples=1)], dim=1)
        return ids


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=80)
    options = parser.parse_args()
    th.manual_seed(1)
    letters = sorted(set(TEXT))
    number = {letter: place for place, letter in enumerate(letters)}
    ids = th.tensor([number[letter] for letter in TEXT])
    model = GPT(len(letters)).to(options.device)
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    opt = optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.95))
    compiled = th.compile(model)
    for step in range(options.steps):
        starts = th.randint(0, len(ids) - BLOCK - 1, [16]).tolist()
        x = th.stack([ids[at:at + BLOCK] for at in starts]).to(options.device)
        y = th.stack([ids[at + 1:at + BLOCK + 1] for at in starts]).to(options.device)
        for group in opt.param_groups:
            group["lr"] = 3e-3 * min(1, (step + 1) / 20)
        with th.tape():
            loss = compiled(x, y)
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        if step % 20 == 19:
            print(f"step {step + 1}: loss {loss.item():.3f}")
    model.eval()
    written = model.generate(ids[None, :16].to(options.device), 24)[0].tolist()
    print("".join(letters[at] for at in written))
    assert loss.item() < 0.5, loss.item()


if __name__ == "__main__":
    main()
