"""random_programs.py MPIRUN AXES [COUNT [FIRST]]: starts itself on the ranks of a mesh, "tensor=2" or "data=2,tensor=2". There random models, some layers of
which are divided among ranks by a plan, other parameters shards of the data axis or common, have the losses and the gradients of the whole
model in one process.
"""
import math
import re
import sys

sys.dont_write_bytecode = True
BATCH, LENGTH, WIDTH, HEADS, WORDS = 4, 4, 8, 4, 12
KINDS = ("mlp", "gated", "heads", "norm", "plain", "scaled", "twice", "again")


def drawn_program(np, seed):
    """[(kind, choices)], and whether the words are divided, and the loss theirs."""
    draw = np.random.default_rng(seed)
    steps = [(KINDS[draw.integers(len(KINDS))], draw.integers(0, 2, 4).astype(bool).tolist(), int(draw.integers(1, 4))) for _ in range(draw.integers(1, 5))]
    return steps, bool(draw.integers(2)), bool(draw.integers(2))


def layer(th, nn, kind, flags, size, parts):
    """(a module, the plan of its layers)."""
    bias, other_bias, square, rms = flags
    inner = 4 * size

    def act(x):
        return x * x if square else th.gelu(x)

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(WIDTH, inner, bias=bias), nn.Linear(inner, WIDTH, bias=other_bias)

        def forward(self, x):
            return x + self.down(act(self.up(x)))

    class Scaled(Mlp):
        """What all ranks have meets what each has of its own, there and back."""
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(th.full([1], 0.7))

        def forward(self, x):
            return x * self.scale + self.down(act(self.up(x)) * self.scale + self.scale)

    class Twice(Mlp):
        def forward(self, x):
            x = x + self.down(act(self.up(x)))
            return x - self.down(act(self.up(x * 0.5)))

    class Again(Mlp):
        def forward(self, x):
            return th.func.checkpoint(super().forward, x)

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.gate, self.down = nn.Linear(WIDTH, inner, bias=bias), nn.Linear(WIDTH, inner, bias=False), nn.Linear(inner, WIDTH, bias=other_bias)

        def forward(self, x):
            return x + self.down(act(self.gate(x)) * self.up(x))

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH, bias=bias), nn.Linear(WIDTH, WIDTH, bias=other_bias)

        def forward(self, x):
            qkv = self.qkv(x).reshape([-1, LENGTH, 3, HEADS // parts, WIDTH // HEADS]).permute([2, 0, 3, 1, 4])
            y = th.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=square)
            return x + self.proj(y.transpose(1, 2).reshape([-1, LENGTH, WIDTH // parts]))
    if kind == "norm":
        return (nn.RMSNorm if rms else nn.LayerNorm)(WIDTH), {}
    if kind == "plain":
        return nn.Linear(WIDTH, WIDTH, bias=bias), {}
    if kind == "heads":
        return Heads(), {"qkv": "colwise:3", "proj": "rowwise"}
    pair = {"up": "colwise", "down": "rowwise"}
    return {"mlp": Mlp, "scaled": Scaled, "twice": Twice, "again": Again, "gated": Gated}[kind](), pair | ({"gate": "colwise"} if kind == "gated" else {})


def model(th, nn, program, parts):
    steps, divided, _ = program
    made = [layer(th, nn, *step, parts) for step in steps]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.blocks = nn.ModuleList([one for one, _ in made])
            self.norm = nn.LayerNorm(WIDTH)

        def forward(self, x):
            h = self.words(x)
            for block in self.blocks:
                h = block(h)
            return self.norm(h)
    plan = {f"blocks.{i}.{name}": style for i, (_, rules) in enumerate(made) for name, style in rules.items()}
    return Net(), plan | ({"words": "vocab"} if divided else {})


def gradients(th, net, mesh, program, x, y):
    _, divided, classes = program
    params = net.parameters()

    def step(x, y):
        h = net(x)
        if not classes:
            loss = (h * h * h).mean()
        else:
            logits = (h @ net.words.weight.t()).reshape([BATCH * LENGTH // (mesh.size("data") if mesh else 1), -1])
            loss = th.vocab_parallel_cross_entropy(logits, y.reshape([-1]), "tensor") if mesh and divided else th.cross_entropy(logits, y.reshape([-1]))
        return loss, th.grad_of(loss, params)
    return th.compile(th.parallel.data(step, mesh, net) if mesh else step)(x, y)


def whole(np, th, part, like, axis, blocks):
    """What the ranks of an axis, if any, have of a tensor of this shape. A dim of one row is as long on each rank."""
    if not axis or not part.shape:
        return np.array(part.tolist())
    dims = [dim for dim, (own, size) in enumerate(zip(part.shape, like.shape)) if own != size]
    dim, shape = dims[0] if dims else 0, list(part.shape)
    split = part.reshape([*shape[:dim], blocks, shape[dim] // blocks, *shape[dim + 1:]])
    gathered = th.all_gather(split, axis, dim + 1)
    rows = gathered.reshape([*shape[:dim], -1, *shape[dim + 1:]])
    return np.array(rows.tolist()).take(range(like.shape[dim]), dim)


def check(np, th, mesh, seed):
    from thunder import nn
    program = drawn_program(np, seed)
    draw = np.random.default_rng([seed, 1])
    x, y = draw.integers(0, WORDS, (2, BATCH, LENGTH))
    rows = slice(BATCH // mesh.size("data") * mesh.index("data"), BATCH // mesh.size("data") * (mesh.index("data") + 1))
    th.seed(seed)
    alone, _ = model(th, nn, program, 1)
    loss, wanted = gradients(th, alone, None, program, th.tensor(x.tolist()), th.tensor(y.tolist()))
    th.seed(seed + mesh.index())
    net, plan = model(th, nn, program, mesh.size("tensor"))
    if plan:
        th.parallel.parallelize_module(net, mesh, plan)
    else:
        mesh.broadcast(net, "tensor")
    sharded = bool(draw.integers(2))
    if sharded:
        th.parallel.fully_shard(net, mesh, reshard_after_forward=bool(draw.integers(2)))
    own_loss, own = gradients(th, net, mesh, program, th.tensor(x[rows].tolist()), th.tensor(y[rows].tolist()))
    found = th.all_reduce(own_loss, "data", "mean").item()
    assert abs(found - loss.item()) < 1e-4 * max(1, abs(loss.item())), (seed, program, plan, found, loss.item())
    for (name, p), one, part in zip(alone.named_parameters(), wanted, own):
        layer_of = name.rpartition(".")[0]
        styles = {path: style for path, style in plan.items() if path == layer_of}
        divided = bool(styles) and not (name.endswith("bias") and "rowwise" in styles.values())
        got = whole(np, th, part, one, "tensor" if divided else "data" if sharded else None, 3 if "colwise:3" in styles.values() else 1)
        one = np.array(one.tolist())
        np.testing.assert_allclose(got, one, rtol=2e-3, atol=2e-5 * max(1, np.abs(one).max()), err_msg=f"program {seed}, {name}: {program}, {plan}")


def main():
    if sys.argv[1] != "rank":
        from launch import require_of_each_rank
        ranks = math.prod(int(size) for size in re.findall(r"\d+", sys.argv[2]))
        return require_of_each_rank("as the whole", sys.argv[1], ranks, [sys.executable, __file__, "rank", *sys.argv[2:]], limit=550)
    import numpy as np
    import thunder as th
    sizes = {"data": 1} | dict((name, int(size)) for name, size in (axis.split("=") for axis in sys.argv[2].split(",")))
    mesh = th.mesh(timeout=60.0, **sizes)
    count, first = int((sys.argv[3:4] or ["40"])[0]), int((sys.argv[4:5] or ["0"])[0])
    for seed in range(first, first + count):
        check(np, th, mesh, seed)
    print(f"rank {mesh.index()}: {count} programs as the whole", flush=True)


main()
