"""GPT-2 of 124M parameters, written once for each package with PyTorch's names: nn is its nn, F has its functions."""
LAYERS, WIDTH, HEADS, VOCABULARY, CONTEXT = 12, 768, 12, 50257, 1024
BATCH, TOKENS = 4, 64
PRECISIONS = ("high", "medium")  # of float32_matmul_precision, beside the default

_WEIGHTS = LAYERS * 12 * WIDTH * WIDTH + VOCABULARY * WIDTH  # those of matrix products
FORWARD_FLOPS = 2 * BATCH * TOKENS * (_WEIGHTS + LAYERS * TOKENS * WIDTH)
TRAINING_FLOPS = 3 * FORWARD_FLOPS
PARAMETERS = _WEIGHTS + CONTEXT * WIDTH + LAYERS * 13 * WIDTH + 2 * WIDTH
UPDATE_BYTES = 28 * PARAMETERS  # parameter, gradient, two moments in; all but the gradient out
DECODE_BYTES = 4 * (_WEIGHTS + LAYERS * 2 * CONTEXT * WIDTH)  # each weight, and each cached key and value, once


def model(nn, F):
    """The model: net(tokens, positions) gives logits; net.one(token, position, caches, mask) those of one more token."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.c_fc, self.c_out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def heads(self, x):
            batch, tokens = x.shape[0], x.shape[1]
            split = self.c_attn(self.ln_1(x)).split(WIDTH, dim=2)
            return [part.view(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2) for part in split]

        def rest(self, x, y):
            x = x + self.c_proj(y.transpose(1, 2).reshape(x.shape[0], x.shape[1], WIDTH))
            return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))

        def forward(self, x):
            q, k, v = self.heads(x)
            return self.rest(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))

        def one(self, x, keys, values, position, mask):
            q, k, v = self.heads(x)
            keys[:, :, position] = k
            values[:, :, position] = v
            return self.rest(x, F.scaled_dot_product_attention(q, keys, values, attn_mask=mask))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
            self.ln_f = nn.LayerNorm(WIDTH)

        def forward(self, tokens, positions):
            x = self.wte(tokens) + self.wpe(positions)
            for block in self.blocks:
                x = block(x)
            return F.linear(self.ln_f(x), self.wte.weight)

        def one(self, token, position, caches, mask):
            x = self.wte(token) + self.wpe(position)
            for block, (keys, values) in zip(self.blocks, caches):
                x = block.one(x, keys, values, position, mask)
            return F.linear(self.ln_f(x), self.wte.weight)

    net = Gpt2()
    # Drawn as the paper's: with nn.Embedding's own, softmax gives next to nothing but numbers too small to be normal.
    for embedding in (net.wte, net.wpe):
        embedding.weight.mul_(0.02)
    return net
