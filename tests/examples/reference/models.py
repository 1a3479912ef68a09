"""GPT-2 and Llama in plain PyTorch, every formula written out; parameters have the names that Hugging Face gives them."""
import math

import torch
from torch import nn
from torch.nn import functional


def attention(q, k, v):
    """[batch, heads, tokens, head] each; a position sees itself and those before it."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v


def split(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def join(x):
    return x.transpose(1, 2).flatten(2)


# ---- GPT-2 ----

class Conv1D(nn.Module):
    def __init__(self, inputs, outputs, deviation):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * deviation)
        self.bias = nn.Parameter(torch.randn(outputs) * deviation)

    def forward(self, x):
        return x @ self.weight + self.bias


class Gpt2Attention(nn.Module):
    def __init__(self, width, heads, deviation):
        super().__init__()
        self.c_attn, self.c_proj = Conv1D(width, 3 * width, deviation), Conv1D(width, width, deviation)
        self.heads = heads

    def forward(self, x):
        q, k, v = (split(part, self.heads) for part in self.c_attn(x).chunk(3, dim=-1))
        return self.c_proj(join(attention(q, k, v)))


class Gpt2Mlp(nn.Module):
    def __init__(self, width, deviation):
        super().__init__()
        self.c_fc, self.c_proj = Conv1D(width, 4 * width, deviation), Conv1D(4 * width, width, deviation)

    def forward(self, x):
        x = self.c_fc(x)
        return self.c_proj(0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))))


class Gpt2Block(nn.Module):
    def __init__(self, width, heads, deviation):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Gpt2Attention(width, heads, deviation)
        self.ln_2, self.mlp = nn.LayerNorm(width), Gpt2Mlp(width, deviation)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, layers, width, heads, context, vocabulary, deviation):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.h = nn.ModuleList(Gpt2Block(width, heads, deviation) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        for table in (self.wte, self.wpe):
            nn.init.normal_(table.weight, std=deviation)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


# ---- Llama ----

class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


def linear(inputs, outputs, deviation):
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=deviation)
    return layer


def rotate(x):
    """By the angles of Llama's rotary embedding: halves of a head are the coordinates."""
    head = x.shape[-1]
    rates = 1.0 / 10000.0 ** (torch.arange(0, head, 2).float() / head)
    angles = torch.outer(torch.arange(x.shape[-2]).float(), rates)
    angles = torch.cat([angles, angles], dim=-1)
    turned = torch.cat([-x[..., head // 2:], x[..., :head // 2]], dim=-1)
    return x * angles.cos() + turned * angles.sin()


class LlamaAttention(nn.Module):
    def __init__(self, width, heads, key_heads, deviation):
        super().__init__()
        head = width // heads
        self.q_proj, self.o_proj = linear(width, width, deviation), linear(width, width, deviation)
        self.k_proj = linear(width, key_heads * head, deviation)
        self.v_proj = linear(width, key_heads * head, deviation)
        self.heads, self.key_heads = heads, key_heads

    def forward(self, x):
        q, k = rotate(split(self.q_proj(x), self.heads)), rotate(split(self.k_proj(x), self.key_heads))
        v, group = split(self.v_proj(x), self.key_heads), self.heads // self.key_heads
        return self.o_proj(join(attention(q, k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1))))


class LlamaMlp(nn.Module):
    def __init__(self, width, inner, deviation):
        super().__init__()
        self.gate_proj, self.up_proj = linear(width, inner, deviation), linear(width, inner, deviation)
        self.down_proj = linear(inner, width, deviation)

    def forward(self, x):
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, key_heads, inner, deviation):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(width), RMSNorm(width)
        self.self_attn, self.mlp = LlamaAttention(width, heads, key_heads, deviation), LlamaMlp(width, inner, deviation)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, layers, width, heads, key_heads, inner, context, vocabulary, deviation, tied=False):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.model.embed_tokens.weight, std=deviation)
        self.model.layers = nn.ModuleList(LlamaBlock(width, heads, key_heads, inner, deviation) for _ in range(layers))
        self.model.norm = RMSNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False) if tied else linear(width, vocabulary, deviation)
        if tied:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, tokens):
        x = self.model.embed_tokens(tokens)
        for block in self.model.layers:
            x = block(x)
        return self.lm_head(self.model.norm(x))


MODELS = {"gpt2": Gpt2, "llama": Llama}
SIZES = {
    "gpt2": {"layers": 12, "width": 768, "heads": 12, "context": 1024, "vocabulary": 50257, "deviation": 0.02},
    "smollm-135m": {"layers": 30, "width": 576, "heads": 9, "key_heads": 3, "inner": 1536, "context": 2048, "tied": True,
                    "vocabulary": 49152, "deviation": 0.02},
}
