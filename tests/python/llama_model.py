"""Hugging Face's Llama as its users would write it of our layers, for models_check.py: RMSNorm, rotary positions, attention whose keys
and values several heads share, and SwiGLU, under the names of its state_dict."""
import thunder as th
import thunder.nn.functional as F
from thunder import nn


class LlamaAttention(nn.Module):
    def __init__(self, width, heads, kv_heads, head_dim):
        super().__init__()
        self.head_dim = head_dim
        self.q_proj, self.o_proj = nn.Linear(width, heads * head_dim, bias=False), nn.Linear(heads * head_dim, width, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(width, kv_heads * head_dim, bias=False) for _ in range(2))

    def forward(self, x, cos, sin):
        batch, time, _ = x.shape
        q, k, v = (project(x).view(batch, time, -1, self.head_dim).transpose(1, 2) for project in (self.q_proj, self.k_proj, self.v_proj))
        out = F.scaled_dot_product_attention(F.rope(q, cos, sin), F.rope(k, cos, sin), v, is_causal=True, enable_gqa=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, time, -1))


class LlamaMLP(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaDecoderLayer(nn.Module):
    def __init__(self, width, heads, kv_heads, head_dim, inner, eps):
        super().__init__()
        self.self_attn, self.mlp = LlamaAttention(width, heads, kv_heads, head_dim), LlamaMLP(width, inner)
        self.input_layernorm, self.post_attention_layernorm = nn.RMSNorm(width, eps=eps), nn.RMSNorm(width, eps=eps)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaRotaryEmbedding(nn.Module):
    def __init__(self, head_dim, theta):
        super().__init__()
        powers = th.arange(0, head_dim, 2).to(th.float32) / head_dim
        self.register_buffer("inv_freq", 1.0 / theta ** powers, persistent=False)  # no part of the state_dict, as there

    def forward(self, time):
        angles = th.outer(th.arange(time).to(th.float32), self.inv_freq)
        angles = th.cat([angles, angles], -1)
        return angles.cos(), angles.sin()


class LlamaModel(nn.Module):
    def __init__(self, vocabulary, layers, width, heads, kv_heads, inner, eps, theta):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList([LlamaDecoderLayer(width, heads, kv_heads, width // heads, inner, eps) for _ in range(layers)])
        self.norm, self.rotary_emb = nn.RMSNorm(width, eps=eps), LlamaRotaryEmbedding(width // heads, theta)

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        cos, sin = self.rotary_emb(tokens.shape[1])
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


class LlamaForCausalLM(nn.Module):
    def __init__(self, vocabulary, layers, width, heads, kv_heads, inner, eps=1e-6, theta=10000.0):
        super().__init__()
        self.model = LlamaModel(vocabulary, layers, width, heads, kv_heads, inner, eps, theta)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        return self.lm_head(self.model(tokens))
