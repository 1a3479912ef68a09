"""deterministic.py MPIRUN: the same eight examples of a step as 1 x 4, 2 x 2 and 4 x 1 processes times micro-batches, data parallel and with shards
(ZeRO-2 and 3), each line a kernel of its own: losses of ten steps and the parameters behind them are the same bits.
"""
# covers: core/passes/reassociate.cpp
import hashlib
import sys

sys.dont_write_bytecode = True
STEPS, EXAMPLES, LEAVES, WORDS, LENGTH, WIDTH = 10, 8, 4, 12, 5, 8


def model(th, nn):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.fc1, self.fc2 = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x):
            return x + self.fc2(th.gelu(self.fc1(self.norm(x))))

    class Net(nn.Module):
        """The words are read twice, and no number of ranks divides their rows."""
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS - 1, WIDTH)
            self.blocks = nn.ModuleList([Block(), Block()])
            self.norm = nn.LayerNorm(WIDTH)

        def forward(self, x):
            h = self.words(x)
            for block in self.blocks:
                h = block(h)
            return self.norm(h) @ self.words.weight.t()
    return Net()


def digest(texts):
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def train(np, th, mesh, how):
    from thunder import nn, optim
    th.seed(5)
    net = model(th, nn)
    if how != "data":
        th.parallel.fully_shard(net, mesh, reshard_after_forward=how == "ZeRO-3")
    params = net.parameters()
    optimizer = optim.AdamW(params, lr=1e-2)

    def loss_of(x, y):
        return th.cross_entropy(net(x).reshape([-1, WORDS - 1]), y.reshape([-1]))

    def step(*microbatches):
        loss, gradients = th.parallel.accumulate_gradients(loss_of, params, [microbatches[i:i + 2] for i in range(0, len(microbatches), 2)])
        optimizer.step(gradients)
        return th.all_reduce(loss, "data", "mean")
    step = th.compile(th.parallel.data(step, mesh, net), deterministic=True, disable_passes=["accumulate", "merge_siblings", "form_regions"])
    draw = np.random.default_rng(3)
    ranks, each, told = mesh.size("data"), EXAMPLES // LEAVES, []
    for _ in range(STEPS):
        x, y = draw.integers(0, WORDS - 1, (2, EXAMPLES, LENGTH))
        own = range(LEAVES // ranks * mesh.index("data"), LEAVES // ranks * (mesh.index("data") + 1))
        told.append(step(*[th.tensor(half[each * i:each * (i + 1)].tolist()) for i in own for half in (x, y)]).item().hex())
    rows = {name: like.shape for name, like in model(th, nn).named_parameters()}
    whole = [th.all_gather(p, "data")[:rows[name][0]] if how != "data" else p for name, p in net.named_parameters()]
    return f"<{how} {told[0]} {told[-1]} {digest(told)} {digest(str(p.tolist()) for p in whole)}>"


def main():
    if sys.argv[1] == "rank":
        import numpy as np
        import thunder as th
        mesh = th.mesh(data=-1, timeout=60.0)
        return print(*[train(np, th, mesh, how) for how in ("data", "ZeRO-2", "ZeRO-3")], flush=True)
    import re
    from launch import on_ranks
    found = {}
    for ranks in (1, 2, 4):
        code, text = on_ranks(sys.argv[1], ranks, [sys.executable, __file__, "rank"], limit=200)
        told = re.findall(r"<(\S+) (.*?)>", text)
        if code != 0 or len(told) != 3 * ranks:
            sys.exit(f"it ended with {code} and printed\n{text}")
        for how, bits in told:
            found.setdefault(bits, []).append(f"{how} {ranks} x {LEAVES // ranks}")
    print("\n".join(f"{bits}: {', '.join(sorted(set(who)))}" for bits, who in found.items()))
    assert len(found) == 1, "the bits differ"


main()
