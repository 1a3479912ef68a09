"""Lengths and positions that vary, written once for each package with PyTorch's names: a narrow GPT of 12 layers, forward and backward, which
costs what a wide one costs to compile, and a decoder with a cache."""
LAYERS, WIDTH, HEADS, VOCABULARY, BATCH, LONGEST = 12, 32, 4, 64, 2, 256
DECODED = 200
NEW, SEEN, TRACES = "dynamic: a new length, GPT 12 layers", "dynamic: a length seen before", "dynamic: traces of 1000 calls"
GUARDS, DECODE, DECODE_TRACES = "dynamic: a call of 3 inputs", f"dynamic: {DECODED} tokens, cache cut at the position", "dynamic: traces of the decoder"
KERNELS, LOAD = "dynamic: kernels compiled after the 20th new length", "dynamic: load of a program with GPT-2's 500 MB"
DECODE_MASKED = f"dynamic: {DECODED} tokens, mask over the cache"
DECODE_TRACES_SAID = "dynamic: traces of the decoder, told that the position alone varies"


def lengths(count):
    """Of the calls: each a new one, until they come again."""
    return [2 + i * 37 % (LONGEST - 2) for i in range(count)]


def model(nn, F):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.fc, self.out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x):
            batch, tokens = x.shape[0], x.shape[1]
            q, k, v = (part.reshape(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2) for part in self.qkv(self.ln_1(x)).split(WIDTH, 2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(y.transpose(1, 2).reshape(batch, tokens, WIDTH))
            return x + self.out(F.gelu(self.fc(self.ln_2(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

        def forward(self, tokens, positions):
            return self.head(self.ln(self.blocks(self.wte(tokens) + self.wpe(positions))))

    return Gpt()


def decoder(library, softmax):
    """step(x, position), and step with a mask in the place of a cut."""
    q, k, v = (library.randn(64, 64) * 0.1 for _ in range(3))
    keys, values = library.zeros(2, DECODED, 64), library.zeros(2, DECODED, 64)
    places = library.arange(DECODED)

    def attend(x, keys, values, hidden=None):
        scores = (keys @ (x @ q).unsqueeze(-1)).squeeze(-1) / 8
        if hidden is not None:
            scores = scores.masked_fill(hidden, -1e9)
        return x + (softmax(scores, -1).unsqueeze(1) @ values).squeeze(1)

    def cut(x, position):
        keys[:, position], values[:, position] = x @ k, x @ v
        return attend(x, keys[:, :position + 1], values[:, :position + 1])

    def masked(x, position):
        at = places == position
        keys.copy_(library.where(at.view(1, -1, 1), (x @ k).unsqueeze(1), keys))
        values.copy_(library.where(at.view(1, -1, 1), (x @ v).unsqueeze(1), values))
        return attend(x, keys, values, places > position)
    return cut, masked
