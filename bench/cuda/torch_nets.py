"""The models of torch_backend.py, each of which gives its loss: by hand, of torch alone."""
import torch
from torch import nn
from torch.nn import functional as F

import llama


class Block(nn.Module):
    def __init__(self, w, heads, dropout):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(w), nn.LayerNorm(w)
        self.qkv, self.out, self.up, self.down = nn.Linear(w, 3 * w), nn.Linear(w, w), nn.Linear(w, 4 * w), nn.Linear(4 * w, w)
        self.heads, self.drop = heads, nn.Dropout(dropout)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, w)
        x = x + self.drop(self.out(y))
        return x + self.drop(self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh")))


class GPT(nn.Module):
    def __init__(self, vocab=512, w=128, heads=4, layers=2, length=128, dropout=0.0):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, w), nn.Embedding(length, w)
        self.blocks = nn.ModuleList([Block(w, heads, dropout) for _ in range(layers)])
        self.ln = nn.LayerNorm(w)
        self.head = nn.Linear(w, vocab, bias=False)
        self.head.weight = self.wte.weight
        self.apply(self.init)

    @staticmethod
    def init(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)

    def forward(self, x, y):
        h = self.wte(x) + self.wpe(torch.arange(x.shape[1], device=x.device))
        for b in self.blocks:
            h = b(h)
        return F.cross_entropy(self.head(self.ln(h)).view(-1, self.wte.num_embeddings), y.view(-1))


class Basic(nn.Module):
    def __init__(self, i, o, stride, bottleneck):
        super().__init__()
        mid = o // 4 if bottleneck else o
        cs = [(i, mid, 1, 1, 0), (mid, mid, 3, stride, 1), (mid, o, 1, 1, 0)] if bottleneck else [(i, o, 3, stride, 1), (o, o, 3, 1, 1)]
        self.convs = nn.ModuleList([nn.Conv2d(a, b, k, s, p, bias=False) for a, b, k, s, p in cs])
        self.bns = nn.ModuleList([nn.BatchNorm2d(b) for _, b, *_ in cs])
        self.short = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride != 1 or i != o else nn.Identity()

    def forward(self, x):
        y = x
        for n, (c, b) in enumerate(zip(self.convs, self.bns)):
            y = b(c(y))
            if n + 1 < len(self.convs):
                y = F.relu(y)
        return F.relu(y + self.short(x))


class ResNet(nn.Module):
    def __init__(self, counts=(2, 2, 2, 2), bottleneck=False, classes=1000):
        super().__init__()
        e = 4 if bottleneck else 1
        layers, i = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
        for s, n in enumerate(counts):
            for b in range(n):
                layers.append(Basic(i, 64 * 2**s * e, 2 if b == 0 and s else 1, bottleneck))
                i = 64 * 2**s * e
        self.body, self.fc = nn.Sequential(*layers), nn.Linear(i, classes)

    def forward(self, x, y):
        return F.cross_entropy(self.fc(self.body(x).mean((2, 3))), y)


class Encoder(nn.Module):
    """A block of attention to all places; norms after what is added, as BERT has them, or before it."""

    def __init__(self, w, heads, norms_first):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(w), nn.LayerNorm(w)
        self.qkv, self.out, self.up, self.down = nn.Linear(w, 3 * w), nn.Linear(w, w), nn.Linear(w, 4 * w), nn.Linear(4 * w, w)
        self.heads, self.norms_first = heads, norms_first

    def attend(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, w))

    def forward(self, x):
        if self.norms_first:
            x = x + self.attend(self.ln1(x))
            return x + self.down(F.gelu(self.up(self.ln2(x))))
        x = self.ln1(x + self.attend(x))
        return self.ln2(x + self.down(F.gelu(self.up(x))))


class BERT(nn.Module):
    """The loss of words that are guessed, through embeddings that are tied."""

    def __init__(self, vocab, w, heads, layers, length):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, w), nn.Embedding(length, w)
        self.ln, self.blocks = nn.LayerNorm(w), nn.ModuleList([Encoder(w, heads, False) for _ in range(layers)])
        self.last, self.last_ln, self.bias = nn.Linear(w, w), nn.LayerNorm(w), nn.Parameter(torch.zeros(vocab))
        self.apply(GPT.init)

    def forward(self, x, y):
        h = self.ln(self.words(x) + self.places(torch.arange(x.shape[1], device=x.device)))
        for block in self.blocks:
            h = block(h)
        logits = F.linear(self.last_ln(F.gelu(self.last(h))), self.words.weight, self.bias)
        return F.cross_entropy(logits.flatten(0, 1), y.flatten())


class ViT(nn.Module):
    def __init__(self, side, patch, w, heads, layers, classes=1000):
        super().__init__()
        self.patches, self.cls = nn.Conv2d(3, w, patch, patch), nn.Parameter(torch.zeros(1, 1, w))
        self.places = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, w) * 0.02)
        self.blocks, self.ln = nn.ModuleList([Encoder(w, heads, True) for _ in range(layers)]), nn.LayerNorm(w)
        self.head = nn.Linear(w, classes)

    def forward(self, x, y):
        h = self.patches(x).flatten(2).transpose(1, 2)
        h = torch.cat((self.cls.expand(h.shape[0], -1, -1), h), 1) + self.places
        for block in self.blocks:
            h = block(h)
        return F.cross_entropy(self.head(self.ln(h)[:, 0]), y)


class Predicted(nn.Module):
    """The loss of a network that gives logits of the next word."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        return F.cross_entropy(self.net(x).flatten(0, 1).float(), y.flatten())


def bert_base():
    return BERT(30522, 768, 12, 12, 512)


def vit_b16():
    return ViT(224, 16, 768, 12, 12)


def llama_1b():
    return Predicted(llama.Llama()).to(torch.bfloat16)


def resnet18():
    try:
        import torchvision
        m = torchvision.models.resnet18()
        class Loss(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = m
            def forward(self, x, y):
                return F.cross_entropy(self.net(x), y)
        return Loss()
    except ImportError:
        return ResNet()


def tiny_gpt2():
    try:
        from transformers import GPT2Config, GPT2LMHeadModel
        m = GPT2LMHeadModel(GPT2Config(vocab_size=512, n_positions=128, n_embd=128, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
        class Loss(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = m
            def forward(self, x, y):
                return self.net(x, labels=y).loss
        return Loss()
    except ImportError:
        return GPT()
