"""Fully sharded training on the GPUs of one host beside one GPU and data parallel: tokens a second, milliseconds of a step, the last loss and the most
memory, of GPT-2 124M (16 windows of 1,024 tokens a GPU) or a Llama of 1.2 billion parameters (2 of 2,048), autocast to bfloat16, AdamW. Or, tensor
parallel, an MLP of 4,096 and 16,384 features on 8,192 tokens, forward and back, by a plan and with collectives by hand.

    RANK=r WORLD_SIZE=n LOCAL_RANK=r MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 python3 bench/cuda/sharded.py gpt2|llama|mlp    # n processes, or torchrun

--engine mpi --tiny under mpirun tries it on the CPU; --show FILE keeps the lines of ZeRO-3.
"""
import argparse
import pathlib
import statistics
import sys
import time

import thunder as th
from thunder import nn, optim

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=["gpt2", "llama", "mlp"])
parser.add_argument("--tiny", action="store_true")
parser.add_argument("--engine", default="nccl")
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--show")
chosen = parser.parse_args()
TINY = chosen.tiny


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t = x.shape[0], x.shape[1]
        q, k, v = [part.view(b, t, self.heads, self.width // self.heads).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).split(self.width, dim=2)]
        y = th.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(b, t, self.width))
        return x + self.c_out(th.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.vocabulary, self.length, self.batch = (64, 16, 2) if TINY else (50304, 1024, 16)
        width, heads, layers = (32, 2, 2) if TINY else (768, 12, 12)
        self.wte, self.wpe = nn.Embedding(self.vocabulary, width), nn.Embedding(self.length, width)
        self.blocks = nn.ModuleList([GptBlock(width, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        self.wte.weight.mul_(0.02), self.wpe.weight.mul_(0.02)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight
        for block in self.blocks:
            x = block(x)
        return th.linear(self.ln_f(x), self.wte.weight)


class LlamaBlock(nn.Module):
    def __init__(self, width, inner, heads, keys):
        super().__init__()
        self.heads, self.keys, self.size = heads, keys, width // heads
        self.n1, self.n2 = nn.RMSNorm(width, 1e-5), nn.RMSNorm(width, 1e-5)
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, keys * self.size, bias=False) for _ in range(2))
        self.g, self.u, self.d = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False), nn.Linear(inner, width, bias=False)

    def forward(self, x, cos, sin):
        b, t = x.shape[0], x.shape[1]
        h = self.n1(x)
        split = lambda y, n: y.view(b, t, n, self.size).transpose(1, 2)

        def turned(y):
            half = self.size // 2
            return y * cos + th.cat([-y[:, :, :, half:], y[:, :, :, :half]], -1) * sin
        y = th.scaled_dot_product_attention(turned(split(self.q(h), self.heads)), turned(split(self.k(h), self.keys)), split(self.v(h), self.keys),
                                            is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, self.heads * self.size))
        h = self.n2(x)
        return x + self.d(th.silu(self.g(h)) * self.u(h))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.vocabulary, self.length, self.batch = (64, 16, 2) if TINY else (128256, 2048, 2)
        width, inner, heads, keys, layers = (32, 64, 4, 2, 2) if TINY else (2048, 8192, 32, 8, 16)
        self.e = nn.Embedding(self.vocabulary, width)
        self.l = nn.ModuleList([LlamaBlock(width, inner, heads, keys) for _ in range(layers)])
        self.n = nn.RMSNorm(width, 1e-5)
        self.register_buffer("cos", th.randn(self.length, width // heads))
        self.register_buffer("sin", th.randn(self.length, width // heads))
        self.e.weight.mul_(0.02)

    def forward(self, tokens):
        x = self.e(tokens)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        for block in self.l:
            x = block(x, cos, sin)
        return th.linear(self.n(x), self.e.weight)


def timed(mesh, f):
    """(seconds of a step, of the first, the last result)."""
    on_gpu = mesh.device.type == "cuda"
    if on_gpu:
        th.cuda.empty_cache(), th.cuda.reset_peak_memory_stats()
    mesh.barrier()
    began = time.perf_counter()
    f().item()
    first = time.perf_counter() - began
    for _ in range(4):
        last = f()
    last.item()
    times = []
    for _ in range(3):
        mesh.barrier()
        began = time.perf_counter()
        for _ in range(chosen.steps):
            last = f()
        last = last.item() if last is not None else None
        times.append((time.perf_counter() - began) / chosen.steps)
        last = f()
    return statistics.median(times), first, last.item()


def train(mesh, make, how):
    th.seed(0)
    net = make()
    size = net.batch * net.length
    net = net.to(mesh.device)
    if how in ("ZeRO-2", "ZeRO-3"):
        th.parallel.fully_shard(net, mesh, reshard_after_forward=how == "ZeRO-3")
    parameters = net.parameters()
    optimizer = optim.AdamW(parameters, lr=1e-4)

    def step(tokens):
        with th.autocast(mesh.device.type, dtype=th.bfloat16):
            logits = net(tokens[:, :-1])
        loss = th.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        optimizer.step(th.grad_of(loss, parameters))
        return loss
    step = th.compile(step if how == "one" else th.parallel.data(step, mesh, net))
    rows = th.randint(0, net.vocabulary - 1, [mesh.size() * net.batch, net.length + 1])
    tokens = rows[mesh.index() * net.batch:(mesh.index() + 1) * net.batch].clone().to(mesh.device)
    seconds, first, loss = timed(mesh, lambda: step(tokens))
    if mesh.index() == 0:
        used = 1 if how == "one" else mesh.size()
        peak = th.cuda.max_memory_allocated() if mesh.device.type == "cuda" else 0
        print(f"{chosen.what} {how} on {used}: {used * size / seconds:.0f} tokens/s, {seconds * 1e3:.2f} ms, first step {first:.1f} s, loss {loss:.5f}, "
              f"{peak / 2**20:.0f} MiB at most", flush=True)
        if chosen.show and how == "ZeRO-3":
            pathlib.Path(chosen.show).write_text(str(th.last_traces(step)[-1]))


def divided_mlp(mesh, how):
    """Each way gives the forward's result, too: what is not returned is not computed."""
    tokens, width, inner = (16, 8, 32) if TINY else (8192, 4096, 16384)
    th.seed(0)
    x, dy = (th.randn(tokens, width).to(th.bfloat16).to(mesh.device) for _ in range(2))
    net = nn.Sequential(nn.Linear(width, inner, bias=False), nn.GELU(), nn.Linear(inner, width, bias=False)).to(th.bfloat16).to(mesh.device)
    if how == "by a plan":
        th.parallel.parallelize_module(net, mesh, {"0": "colwise", "2": "rowwise"}, axis="data")
    up, down = net.parameters()
    if how == "by hand":
        own = slice(inner // mesh.size() * mesh.index(), inner // mesh.size() * (mesh.index() + 1))
        up, down = up[own].clone(), down[:, own].clone()

    def step(x):
        if how == "by hand":
            y = th.all_reduce(th.linear(th.gelu(th.linear(th.pvary(x, "data"), up)), down), "data")
        else:
            y = net(x)
        return (y.float().mean(), y, *th.grad_of((y * dy).sum(), [up, down, x]))
    compiled = th.compile(step)
    seconds, first, mean = timed(mesh, lambda: compiled(x)[0])
    if mesh.index() == 0:
        print(f"mlp {how} on {1 if how == 'one' else mesh.size()}: {seconds * 1e3:.3f} ms, first step {first:.1f} s, mean {mean:.6f}", flush=True)


mesh = th.mesh(data=-1, engine=chosen.engine)
if chosen.what == "mlp":
    for how in ["one", "by a plan", "by hand"] if mesh.size() > 1 else ["one"]:
        divided_mlp(mesh, how)
    sys.exit()
kinds = ["one", "data parallel", "ZeRO-2", "ZeRO-3"] if chosen.what == "gpt2" else ["one", "ZeRO-2", "ZeRO-3"]
for how in kinds if mesh.size() > 1 else kinds[:1]:
    train(mesh, Gpt if chosen.what == "gpt2" else Llama, how)
if mesh.index() == 0:
    print(mesh)
