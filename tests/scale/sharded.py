"""sharded.py MPIRUN RANKS: starts itself on that many ranks. There a model whose parameters are shards has the losses of fifty steps, the
gradients of every parameter and the parameters of one process on the whole batch, to 1e-5; a unit's parameters are gathered by one collective; and
the plan says what the allocator counts: what one rank has of all gradients, and two and a half of the largest unit.
"""
import re
import sys

sys.dont_write_bytecode = True
STEPS, FEW, BATCH, TOLERANCE = 50, 6, 8, 1e-5


def model(th, nn):
    class Net(nn.Module):
        """Sizes that no number of ranks divides, a parameter that is read twice, one without a dim, three units."""
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(11, 7)
            self.blocks = nn.ModuleList([Block(), Block()])
            self.norm = nn.LayerNorm(7)
            self.scale = nn.Parameter(th.ones([]))

        def forward(self, x):
            h = self.words(x)
            for block in self.blocks:
                h = h + block(h) * self.scale
            return self.norm(h) @ self.words.weight.t()

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(7)
            self.fc1, self.fc2 = nn.Linear(7, 13), nn.Linear(13, 7)

        def forward(self, x):
            return self.fc2(th.gelu(self.fc1(self.norm(x))))
    return Net()


def begun(lines, op):
    """How many collectives of units are begun: those that more follow begin with the next one."""
    units = [line for line in lines.splitlines() if f"prims.{op}(" in line]
    return len(units), sum(not re.search(r", \d+, true\)", line) for line in units)


def train(th, net, make, step_of, batches):
    params = net.parameters()
    optimizer = make(params)

    def step(x, y):
        loss = step_of.loss(net(x), y)
        grads = th.grad_of(loss, params)
        optimizer.step(th.clip_grad_norm(grads, 0.5)[0])
        return step_of.reported(loss), grads
    step = th.compile(step_of.wrap(step))
    losses, first = [], None
    for x, y in batches:
        loss, grads = step(x, y)
        first = first or [g.tolist() for g in grads]
        losses.append(loss.item())
    return losses, first, step


class Alone:
    def __init__(self, th):
        self.th = th

    def loss(self, logits, y):
        return self.th.cross_entropy(logits.reshape([-1, 11]), y.reshape([-1]))

    def reported(self, loss):
        return loss

    def wrap(self, step):
        return step


class Together(Alone):
    def __init__(self, th, mesh, net):
        super().__init__(th)
        self.mesh, self.net = mesh, net

    def reported(self, loss):
        return self.th.all_reduce(loss, "data", "mean")

    def wrap(self, step):
        return self.th.parallel.data(step, self.mesh, self.net)


def whole(np, th, mesh, shard, like):
    """What all ranks have of a tensor with the rows of another one."""
    here = th.tensor(shard) if not isinstance(shard, th.Tensor) else shard
    if np.ndim(like) == 0:
        return np.array(here.tolist())
    return np.array(th.all_gather(here, "data").tolist())[:len(like)]


def check_training(np, th, mesh):
    from thunder import nn, optim
    ranks, rank = mesh.size("data"), mesh.index("data")
    draw = np.random.default_rng(3)
    batches = [(draw.integers(0, 11, (BATCH, 5)), draw.integers(0, 11, (BATCH, 5))) for _ in range(STEPS)]
    part = BATCH // ranks
    here = [tuple(th.tensor(half[part * rank:part * (rank + 1)].tolist()) for half in pair) for pair in batches]
    kinds = {"AdamW": lambda p: optim.AdamW(p, lr=1e-2), "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9)}
    for kind, again, steps in (("AdamW", True, STEPS), ("AdamW", False, FEW), ("SGD", True, FEW)):
        make = kinds[kind]
        th.seed(7)
        alone = model(th, nn)
        th.seed(7 + rank)  # fully_shard makes it that of rank 0
        net = model(th, nn)
        wanted, gradients, _ = train(th, alone, make, Alone(th), [tuple(th.tensor(half.tolist()) for half in pair) for pair in batches[:steps]])
        assert th.parallel.fully_shard(net, mesh, reshard_after_forward=again) is net
        assert net.words._parameters()["weight"].shape[0] == -(-11 // ranks)
        found, shards, step = train(th, net, make, Together(th, mesh, net), here[:steps])
        worst = max(abs(a - b) for a, b in zip(wanted, found))
        assert worst < TOLERANCE and (steps < STEPS or wanted[-1] < wanted[0]), (worst, wanted, found)
        for one, shard, (name, p) in zip(gradients, shards, alone.named_parameters()):
            np.testing.assert_allclose(whole(np, th, mesh, shard, one), np.array(one), atol=TOLERANCE, err_msg=name)
        for (name, p), (_, q) in zip(alone.named_parameters(), net.named_parameters()):
            np.testing.assert_allclose(whole(np, th, mesh, q, p.tolist()), np.array(p.tolist()), atol=1e-4, err_msg=name)
        lines = str(th.last_traces(step)[-1])
        gathers, begins = begun(lines, "all_gather")
        assert again == (gathers > len(shards) - 1), lines
        # The words, two blocks, the norm behind them (with the words again), and the first block again.
        assert begins == (5 if again else 4), lines
        assert begun(lines, "reduce_scatter") == (len(shards), 3), lines  # the words are read twice, the scale is whole


def block_of(bytes):
    """What the allocator gives for so many: blocks have eight sizes between two powers of two."""
    shift = (bytes - 1).bit_length() - 4
    return -(-bytes >> shift) << shift


def check_memory(th, mesh):
    from thunder import nn, optim

    def block(width):
        return nn.Sequential(*[layer for _ in range(2) for layer in (nn.Linear(256, width), nn.GELU(), nn.Linear(width, 256), nn.GELU())])
    for widths in ([512] * 6, [1024, 512, 256, 512, 256, 128], [128, 256, 1024, 256, 512, 512], [256, 512, 1024, 256, 2048, 128, 64, 64]):
        net = nn.Sequential(*[block(width) for width in widths])
        sizes = [sum(4 * p.numel() for p in one.parameters()) for one in net.children()]
        th.parallel.fully_shard(net, mesh)
        params = net.parameters()
        optimizer = optim.AdamW(params)

        def step(x):
            loss = net(x).sum()
            optimizer.step(th.clip_grad_norm(th.grad_of(loss, params), 1.0)[0])
            return loss
        step, x = th.compile(th.parallel.data(step, mesh, net)), th.ones(4, 256)
        th.cuda.reset_peak_memory_stats("cpu")
        before = th.cuda.memory_stats("cpu")["allocated_bytes"]
        step(x)
        counted = th.cuda.memory_stats("cpu")["max_allocated_bytes"] - before
        needed = int(re.match(r"a call: (\d+) bytes at most", th.explain(step, "plan_memory")).group(1))
        assert abs(counted - block_of(needed)) < 0.02 * counted, (widths, counted, needed)
        assert needed < sum(sizes) / mesh.size("data") + 2.5 * max(sizes), (widths, needed, sizes)


def check_refusals(th, mesh):
    from thunder import nn, optim
    net = th.parallel.fully_shard(nn.Sequential(nn.Linear(4, 6)), mesh)
    def told(f, *words):
        try:
            f()
        except (th.Error, RuntimeError) as error:
            assert all(word in str(error) for word in words), error
        else:
            raise AssertionError(f"not refused: {words}")
    x = th.ones(2, 4)
    told(lambda: net(x), "is a shard", "compiled functions gather it")
    for kind in (optim.Muon, optim.Adafactor, optim.LBFGS):
        told(lambda: kind([net.parameters()[0]]), kind.__name__, "'0' is a shard", "whole parameters alone")
    weight = net.parameters()[0]
    kept = th.zeros(weight.shape)
    def late(x):
        kept.add_(th.grad_of(net(x).sum(), weight))
    th.compile(late)(x)
    told(lambda: th.compile(lambda: th.clip_grad_norm([kept], 1.0))(), "clip_grad_norm: '0", "may be of a shard")
    def scaled(x):
        g = th.grad_of(net(x).sum(), weight)
        return th.clip_grad_norm([g * 2.0], 1.0)[0][0]
    clipped = th.compile(scaled)(x)
    norm = th.all_reduce((clipped * clipped).sum(), "data").sqrt().item()
    assert abs(norm - 1) < 1e-4, norm


def main():
    if sys.argv[1] != "rank":
        from launch import require_of_each_rank
        return require_of_each_rank("as one process", sys.argv[1], sys.argv[2], [sys.executable, __file__, "rank"], limit=300)
    import numpy as np
    import thunder as th
    mesh = th.mesh(data=-1, timeout=60.0)
    check_training(np, th, mesh)
    check_memory(th, mesh)
    check_refusals(th, mesh)
    print(f"rank {mesh.index()}: as one process")


main()
