"""tensor_parallel.py MPIRUN AXES: starts itself on the ranks of a mesh, "tensor=2" or "data=2,tensor=2". There models whose layers are divided
among ranks have the losses of fifty steps, the gradients of every parameter and the parameters of one process on the whole batch, to 1e-5, and a
checkpoint of theirs is one of whole tensors.
"""
# covers: core/modules/tensor_parallel.cpp
import math
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
STEPS, BATCH, LENGTH, WORDS, WIDTH, HEADS, TOLERANCE = 50, 4, 6, 24, 16, 4, 1e-5

GPT_PLAN = {"words": "vocab", "blocks.*.qkv": "colwise:3", "blocks.*.proj": "rowwise", "blocks.*.fc1": "colwise", "blocks.*.fc2": "rowwise"}
LLAMA_PLAN = {"words": "vocab", "head": "vocab", "blocks.*.q": "colwise", "blocks.*.k": "colwise", "blocks.*.v": "colwise", "blocks.*.o": "rowwise",
              "blocks.*.gate": "colwise", "blocks.*.up": "colwise", "blocks.*.down": "rowwise"}


def gpt(th, nn, parts):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.fc1, self.fc2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x):
            qkv = self.qkv(self.norm1(x)).reshape([-1, LENGTH, 3, HEADS // parts, WIDTH // HEADS]).permute([2, 0, 3, 1, 4])
            y = th.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
            x = x + self.proj(y.transpose(1, 2).reshape([-1, LENGTH, WIDTH // parts]))
            return x + self.fc2(th.gelu(self.fc1(self.norm2(x))))

    class GPT(nn.Module):
        """The logits are products with the rows of the embedding, of which each rank has some."""
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.ModuleList([Block(), Block()])
            self.norm = nn.LayerNorm(WIDTH)

        def forward(self, x):
            h = self.words(x) + self.places.weight
            for block in self.blocks:
                h = block(h)
            return self.norm(h) @ self.words.weight.t()
    return GPT()


def llama(th, nn, parts):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
            self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
            self.gate, self.up, self.down = nn.Linear(WIDTH, 40, bias=False), nn.Linear(WIDTH, 40, bias=False), nn.Linear(40, WIDTH, bias=False)

        def turned(self, x):
            x = x.reshape([-1, LENGTH, HEADS // parts, WIDTH // HEADS]).transpose(1, 2)
            angle = th.arange(LENGTH).reshape([-1, 1]).to(th.float32) * th.tensor([1.0, 0.1])
            even, odd = x[:, :, :, :2], x[:, :, :, 2:]
            return th.cat([even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], -1)

        def forward(self, x):
            h = self.norm1(x)
            v = self.v(h).reshape([-1, LENGTH, HEADS // parts, WIDTH // HEADS]).transpose(1, 2)
            y = th.scaled_dot_product_attention(self.turned(self.q(h)), self.turned(self.k(h)), v, is_causal=True)
            x = x + self.o(y.transpose(1, 2).reshape([-1, LENGTH, WIDTH // parts]))
            h = self.norm2(x)
            return x + self.down(th.silu(self.gate(h)) * self.up(h))

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
            self.blocks = nn.ModuleList([Block(), Block()])
            self.norm = nn.RMSNorm(WIDTH)

        def forward(self, x):
            h = self.blocks[0](self.words(x))
            h = th.func.checkpoint(self.blocks[1], h)  # computes its sums over the ranks again
            return self.head(self.norm(h))
    return Llama()


def train(th, net, mesh, batches):
    """(losses, first gradients, optimiser, the compiled step)."""
    from thunder import optim
    params = net.parameters()
    optimizer = optim.AdamW(params, lr=3e-3)

    def step(x, y):
        logits = net(x)
        logits, y = logits.reshape([-1, logits.shape[-1]]), y.reshape([-1])
        loss = th.vocab_parallel_cross_entropy(logits, y, "tensor") if mesh else th.cross_entropy(logits, y)
        grads = th.grad_of(loss, params)
        optimizer.step(th.clip_grad_norm(grads, 0.5)[0])
        return th.all_reduce(loss, "data", "mean") if mesh else loss, grads
    step = th.compile(th.parallel.data(step, mesh, net) if mesh else step)
    losses, first = [], None
    for x, y in batches:
        loss, grads = step(x, y)
        first = first or [g.clone() for g in grads]
        losses.append(loss.item())
    return losses, first, optimizer, step


def whole(np, th, part, like, blocks):
    """What all ranks have of a tensor of this shape."""
    dims = [dim for dim, (own, size) in enumerate(zip(part.shape, like.shape)) if own != size]
    if not dims:
        return np.array(part.tolist())
    dim, shape = dims[0], list(part.shape)
    split = part.reshape([*shape[:dim], blocks, shape[dim] // blocks, *shape[dim + 1:]])
    return np.array(th.all_gather(split, "tensor", dim + 1).reshape(list(like.shape)).tolist())


def check_training(np, th, mesh, model, plan, axes):
    from thunder import nn, optim
    parts, data = mesh.size("tensor"), mesh.size("data")
    draw = np.random.default_rng(3)
    batches = [(draw.integers(0, WORDS, (BATCH, LENGTH)), draw.integers(0, WORDS, (BATCH, LENGTH))) for _ in range(STEPS)]
    part, at = BATCH // data, BATCH // data * mesh.index("data")
    tensors = lambda pairs: [tuple(th.tensor(half.tolist()) for half in pair) for pair in pairs]
    th.seed(7)
    alone = model(th, nn, 1)
    wanted, gradients, _, _ = train(th, alone, None, tensors(batches))
    th.seed(7 + mesh.index())  # all begin as rank 0 does
    net = model(th, nn, parts)
    assert th.parallel.parallelize_module(net, mesh, plan) is net
    found, own, optimizer, step = train(th, net, mesh, tensors([tuple(half[at:at + part] for half in pair) for pair in batches]))
    worst = max(abs(a - b) for a, b in zip(wanted, found))
    assert worst < TOLERANCE and wanted[-1] < wanted[0], (worst, wanted, found)
    for (name, p), one, shard in zip(alone.named_parameters(), gradients, own):
        blocks = 3 if "qkv" in name else 1
        np.testing.assert_allclose(whole(np, th, shard, p, blocks), np.array(one.tolist()), atol=TOLERANCE, err_msg=name)
    for (name, p), (_, q) in zip(alone.named_parameters(), net.named_parameters()):
        found, wanted = whole(np, th, q, p, 3 if "qkv" in name else 1), np.array(p.tolist())
        if name.endswith("qkv.bias"):  # that of keys changes nothing: its gradient is rounding, of which AdamW makes whole steps
            found[WIDTH:2 * WIDTH] = wanted[WIDTH:2 * WIDTH]
        np.testing.assert_allclose(found, wanted, atol=1e-4, err_msg=name)
    # The sums over the ranks that a block needs are two ahead and two back, and no parts are gathered.
    lines = str(th.last_traces(step)[-1])
    blocks = [line for line in lines.splitlines() if re.search(r'prims\.all_reduce\(.*"tensor"', line) and "layer blocks.0" in line]
    assert len(blocks) == 4 and "all_gather" not in lines, lines
    check_checkpoint(np, th, mesh, model, net, optimizer)


def check_checkpoint(np, th, mesh, model, net, optimizer):
    from thunder import nn, optim
    folder = [tempfile.mkdtemp() if mesh.index() == 0 else ""]
    name = th.tensor([*folder[0].encode().ljust(200)], dtype=th.uint8)
    mesh.broadcast(name)
    folder = bytes(name.tolist()).decode().strip()
    th.parallel.save(folder, mesh, net, optimizer)
    alone = model(th, nn, 1)
    single = optim.AdamW(alone.parameters(), lr=3e-3)
    th.parallel.load(folder, mesh, alone, single)
    for (path, p), (_, q) in zip(alone.named_parameters(), net.named_parameters()):
        assert (whole(np, th, q, p, 3 if "qkv" in path else 1) == np.array(p.tolist())).all(), path
    th.parallel.load(folder, mesh, net, optimizer)
    for (path, p), (_, q) in zip(alone.named_parameters(), net.named_parameters()):
        assert (whole(np, th, q, p, 3 if "qkv" in path else 1) == np.array(p.tolist())).all(), path
    mesh.barrier()
    if mesh.index() == 0:
        for file in os.listdir(folder):
            os.remove(os.path.join(folder, file))
        os.rmdir(folder)


def check_refusals(th, mesh):
    from thunder import nn

    def told(f, *words):
        try:
            f()
        except (th.Error, RuntimeError, ValueError) as error:
            assert all(word in str(error) for word in words), error
        else:
            raise AssertionError(f"not refused: {words}")
    net = nn.Sequential(nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 8), nn.Linear(8, 7))
    divide = lambda plan: th.parallel.parallelize_module(net, mesh, plan)
    told(lambda: divide({"0": "colwise", "9": "rowwise"}), "'9' names no layer")
    told(lambda: divide({"0": "colwise", "1": "rowwise"}), "'1', a GELU, cannot be 'rowwise'")
    told(lambda: divide({"0": "colwise", "2": "columns"}), "cannot be 'columns'", "'colwise'")
    told(lambda: divide({"0": "colwise", "3": "colwise"}), "dim 0 of '3.weight'", "cannot be divided among")
    assert net.parameters()[0].shape[0] == 12  # nothing has changed
    divide({"0": "colwise", "2": "rowwise"})
    told(lambda: divide({"0": "colwise"}), "'0.weight' is a shard already")
    x = th.ones(2, 8)
    told(lambda: net(x), "is a shard", "compiled functions compute with it")
    first = net.parameters()[0]
    told(lambda: th.compile(lambda: th.grad_of(net[0](x).sum(), first))(), "grad: the loss differs among the ranks of axis 'tensor'", "all_reduce")
    told(lambda: th.compile(lambda: th.dropout(net[0](x), 0.5))(), "dropout: it draws the same numbers", "axis 'tensor'")
    with tempfile.TemporaryDirectory() as folder:
        told(lambda: net.save(os.path.join(folder, "net.safetensors")), "is a shard")


def main():
    if sys.argv[1] != "rank":
        from launch import require_of_each_rank
        ranks = math.prod(int(axis.partition("=")[2]) for axis in sys.argv[2].split(","))
        return require_of_each_rank("as one process", sys.argv[1], ranks, [sys.executable, __file__, "rank", sys.argv[2]], limit=300)
    import numpy as np
    import thunder as th
    axes = {name: int(size) for name, size in (axis.split("=") for axis in sys.argv[2].split(","))}
    mesh = th.mesh(timeout=60.0, **{"data": 1, **axes})
    check_training(np, th, mesh, gpt, GPT_PLAN, axes)
    check_training(np, th, mesh, llama, LLAMA_PLAN, axes)
    check_refusals(th, mesh)
    print(f"rank {mesh.index()}: as one process")


main()
