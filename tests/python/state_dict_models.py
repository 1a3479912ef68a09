"""torchvision's ResNet-50 and Hugging Face's GPT-2 and BERT as their users have them, for state_dict_test.py: modules
of the same names, what a state_dict of each holds, and what each computes, in numpy over such a dict."""
import math

import numpy as np
import thunder as th
import thunder.nn.functional as F
from thunder import nn

# ---- ResNet-50 ----

BLOCKS = ((64, 3), (128, 4), (256, 6), (512, 3))


class Bottleneck(nn.Module):
    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * 4, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * 4)
        self.relu = nn.ReLU(inplace=True)
        if downsample is not None:
            self.downsample = downsample
        self.has_downsample = downsample is not None

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (self.downsample(x) if self.has_downsample else x))


class ResNet50(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inplanes = 64
        for i, (planes, count) in enumerate(BLOCKS):
            stride = 1 if i == 0 else 2
            downsample = nn.Sequential(nn.Conv2d(inplanes, planes * 4, 1, stride, bias=False),
                                       nn.BatchNorm2d(planes * 4))
            blocks = [Bottleneck(inplanes, planes, stride, downsample)]
            blocks += [Bottleneck(planes * 4, planes) for _ in range(count - 1)]
            setattr(self, f"layer{i + 1}", nn.Sequential(*blocks))
            inplanes = planes * 4
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(2048, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(th.flatten(self.avgpool(x), 1))


def resnet50_shapes(classes):
    def norm(name, size):
        for member in ("weight", "bias", "running_mean", "running_var"):
            yield f"{name}.{member}", (size,)
        yield f"{name}.num_batches_tracked", ()
    yield "conv1.weight", (64, 3, 7, 7)
    yield from norm("bn1", 64)
    inplanes = 64
    for i, (planes, count) in enumerate(BLOCKS):
        for k in range(count):
            at = f"layer{i + 1}.{k}"
            for part, shape in enumerate(((planes, inplanes, 1, 1), (planes, planes, 3, 3),
                                          (planes * 4, planes, 1, 1))):
                yield f"{at}.conv{part + 1}.weight", shape
                yield from norm(f"{at}.bn{part + 1}", shape[0])
            if k == 0:
                yield f"{at}.downsample.0.weight", (planes * 4, inplanes, 1, 1)
                yield from norm(f"{at}.downsample.1", planes * 4)
            inplanes = planes * 4
    yield "fc.weight", (classes, 2048)
    yield "fc.bias", (classes,)


def resnet50_numpy(state, x):
    def conv(name, x, stride=1, padding=0):
        w = state[name + ".weight"]
        x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
        return np.moveaxis(np.tensordot(windows, w, ((1, 4, 5), (1, 2, 3))), 3, 1)

    def norm(name, x):
        mean, var, weight, bias = (state[f"{name}.{member}"].reshape(-1, 1, 1)
                                   for member in ("running_mean", "running_var", "weight", "bias"))
        return (x - mean) / np.sqrt(var + 1e-5) * weight + bias

    def relu(x):
        return np.maximum(x, 0)
    x = relu(norm("bn1", conv("conv1", x, 2, 3)))
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    x = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max((4, 5))
    for i, (_, count) in enumerate(BLOCKS):
        for k in range(count):
            at, stride = f"layer{i + 1}.{k}", 2 if i and k == 0 else 1
            y = relu(norm(at + ".bn1", conv(at + ".conv1", x)))
            y = relu(norm(at + ".bn2", conv(at + ".conv2", y, stride, 1)))
            y = norm(at + ".bn3", conv(at + ".conv3", y))
            x = relu(y + (norm(at + ".downsample.1", conv(at + ".downsample.0", x, stride)) if k == 0 else x))
    return x.mean((2, 3)) @ state["fc.weight"].T + state["fc.bias"]


# ---- GPT-2 ----

LAYERS, HEADS, WIDTH, VOCABULARY, CONTEXT = 3, 4, 48, 101, 32


class Conv1D(nn.Module):
    """Hugging Face's linear layer with a weight [in, out]."""

    def __init__(self, out, inputs):
        super().__init__()
        self.weight, self.bias = nn.Parameter(th.zeros(inputs, out)), nn.Parameter(th.zeros(out))

    def forward(self, x):
        return x @ self.weight + self.bias


class GPT2Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = Conv1D(3 * WIDTH, WIDTH), Conv1D(WIDTH, WIDTH)

    def forward(self, x):
        batch, time, _ = x.shape
        q, k, v = (part.view(batch, time, HEADS, WIDTH // HEADS).transpose(1, 2)
                   for part in self.c_attn(x).split(WIDTH, 2))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(out.transpose(1, 2).reshape(batch, time, WIDTH))


class GPT2MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc, self.c_proj = Conv1D(4 * WIDTH, WIDTH), Conv1D(WIDTH, 4 * WIDTH)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class GPT2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = nn.LayerNorm(WIDTH), GPT2Attention(), nn.LayerNorm(WIDTH), GPT2MLP()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.h, self.ln_f = nn.ModuleList([GPT2Block() for _ in range(LAYERS)]), nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(th.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x)


class GPT2LMHeadModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer, self.lm_head = GPT2Model(), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, tokens):
        return self.lm_head(self.transformer(tokens))


def gpt2_shapes():
    yield "transformer.wte.weight", (VOCABULARY, WIDTH)
    yield "transformer.wpe.weight", (CONTEXT, WIDTH)
    for i in range(LAYERS):
        for name, inputs, out in (("ln_1", None, WIDTH), ("attn.c_attn", WIDTH, 3 * WIDTH),
                                  ("attn.c_proj", WIDTH, WIDTH), ("ln_2", None, WIDTH),
                                  ("mlp.c_fc", WIDTH, 4 * WIDTH), ("mlp.c_proj", 4 * WIDTH, WIDTH)):
            yield f"transformer.h.{i}.{name}.weight", (out,) if inputs is None else (inputs, out)
            yield f"transformer.h.{i}.{name}.bias", (out,)
    yield "transformer.ln_f.weight", (WIDTH,)
    yield "transformer.ln_f.bias", (WIDTH,)
    yield "lm_head.weight", (VOCABULARY, WIDTH)


def layer_norm(state, name, x, eps):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * state[name + ".weight"] + state[name + ".bias"]


def attention(q, k, v, causal):
    """Of [batch, time, width], by heads."""
    def heads(x):
        return np.moveaxis(x.reshape(*x.shape[:2], HEADS, -1), 2, 1)
    scores = heads(q) @ np.swapaxes(heads(k), 2, 3) / math.sqrt(q.shape[2] // HEADS)
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    out = weights / weights.sum(-1, keepdims=True) @ heads(v)
    return np.moveaxis(out, 1, 2).reshape(q.shape)


def gpt2_numpy(state, tokens):
    def conv1d(name, x):
        return x @ state[name + ".weight"] + state[name + ".bias"]
    x = state["transformer.wte.weight"][tokens] + state["transformer.wpe.weight"][:tokens.shape[1]]
    for i in range(LAYERS):
        at = f"transformer.h.{i}."
        q, k, v = np.split(conv1d(at + "attn.c_attn", layer_norm(state, at + "ln_1", x, 1e-5)), 3, 2)
        x = x + conv1d(at + "attn.c_proj", attention(q, k, v, True))
        y = conv1d(at + "mlp.c_fc", layer_norm(state, at + "ln_2", x, 1e-5))
        y = 0.5 * y * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y ** 3)))
        x = x + conv1d(at + "mlp.c_proj", y)
    return layer_norm(state, "transformer.ln_f", x, 1e-5) @ state["lm_head.weight"].T


# ---- BERT ----

class Group(nn.Module):
    """Members by name, without a forward: what BERT nests and calls one by one."""

    def __init__(self, /, **members):
        super().__init__()
        for name, member in members.items():
            setattr(self, name, member)


class BertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        own = Group(query=nn.Linear(WIDTH, WIDTH), key=nn.Linear(WIDTH, WIDTH), value=nn.Linear(WIDTH, WIDTH))
        after = Group(dense=nn.Linear(WIDTH, WIDTH), LayerNorm=nn.LayerNorm(WIDTH, eps=1e-12))
        self.attention = Group(**{"self": own, "output": after})
        self.intermediate = Group(dense=nn.Linear(WIDTH, 4 * WIDTH))
        self.output = Group(dense=nn.Linear(4 * WIDTH, WIDTH), LayerNorm=nn.LayerNorm(WIDTH, eps=1e-12))

    def forward(self, x):
        own, after = getattr(self.attention, "self"), self.attention.output
        q, k, v = (layer(x).view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)
                   for layer in (own.query, own.key, own.value))
        found = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(*x.shape)
        x = after.LayerNorm(after.dense(found) + x)
        return self.output.LayerNorm(self.output.dense(F.gelu(self.intermediate.dense(x))) + x)


class BertModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Group(word_embeddings=nn.Embedding(VOCABULARY, WIDTH, padding_idx=0),
                                position_embeddings=nn.Embedding(CONTEXT, WIDTH),
                                token_type_embeddings=nn.Embedding(2, WIDTH), LayerNorm=nn.LayerNorm(WIDTH, eps=1e-12))
        self.encoder = Group(layer=nn.ModuleList([BertLayer() for _ in range(LAYERS)]))
        self.pooler = Group(dense=nn.Linear(WIDTH, WIDTH))

    def forward(self, tokens, types):
        e = self.embeddings
        x = e.LayerNorm(e.word_embeddings(tokens) + e.token_type_embeddings(types)
                        + e.position_embeddings(th.arange(tokens.shape[1])))
        for layer in self.encoder.layer:
            x = layer(x)
        return x, th.tanh(self.pooler.dense(x[:, 0]))


def bert_shapes():
    def linear(name, inputs, out):
        yield name + ".weight", (out, inputs)
        yield name + ".bias", (out,)

    def norm(name):
        yield name + ".weight", (WIDTH,)
        yield name + ".bias", (WIDTH,)
    for name, rows in (("word", VOCABULARY), ("position", CONTEXT), ("token_type", 2)):
        yield f"embeddings.{name}_embeddings.weight", (rows, WIDTH)
    yield from norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        for name in ("query", "key", "value"):
            yield from linear(f"{at}attention.self.{name}", WIDTH, WIDTH)
        yield from linear(at + "attention.output.dense", WIDTH, WIDTH)
        yield from norm(at + "attention.output.LayerNorm")
        yield from linear(at + "intermediate.dense", WIDTH, 4 * WIDTH)
        yield from linear(at + "output.dense", 4 * WIDTH, WIDTH)
        yield from norm(at + "output.LayerNorm")
    yield from linear("pooler.dense", WIDTH, WIDTH)


def bert_numpy(state, tokens, types):
    def linear(name, x):
        return x @ state[name + ".weight"].T + state[name + ".bias"]
    e = "embeddings."
    x = state[e + "word_embeddings.weight"][tokens] + state[e + "token_type_embeddings.weight"][types]
    x = layer_norm(state, e + "LayerNorm", x + state[e + "position_embeddings.weight"][:tokens.shape[1]], 1e-12)
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        q, k, v = (linear(f"{at}attention.self.{name}", x) for name in ("query", "key", "value"))
        x = layer_norm(state, at + "attention.output.LayerNorm",
                       linear(at + "attention.output.dense", attention(q, k, v, False)) + x, 1e-12)
        y = linear(at + "intermediate.dense", x)
        y = y * 0.5 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)))
        x = layer_norm(state, at + "output.LayerNorm", linear(at + "output.dense", y) + x, 1e-12)
    return x, np.tanh(linear("pooler.dense", x[:, 0]))
