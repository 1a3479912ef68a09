"""pipeline.py MPIRUN AXES [ENGINE]: starts itself on the ranks of a mesh, "stage=2", "stage=4" or "data=2,stage=2". There a model whose blocks are stages on
several ranks has the losses of fifty steps and the parameters of one process on the whole batch, to 1e-5.
"""
# covers: bindings/python/thunder/parallel/_pipeline.py
import math
import re
import sys

sys.dont_write_bytecode = True
STEPS, BATCH, MICROBATCHES, LENGTH, WORDS, WIDTH, BLOCKS, TOLERANCE = 50, 8, 4, 6, 12, 8, 4, 1e-5


def parts(th, nn):
    """Words, four blocks, and a head."""
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.fc1, self.fc2 = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

        def forward(self, x):
            return x + self.fc2(th.gelu(self.fc1(self.norm(x))))
    th.seed(7)
    return nn.Embedding(WORDS, WIDTH), *[Block() for _ in range(BLOCKS)], nn.Linear(WIDTH, WORDS)


def train(th, optim, step_of, params, batches):
    optimizer = optim.AdamW(params, lr=3e-3)

    def step(x, y):
        loss, gradients = step_of(x, y)
        optimizer.step(gradients)
        return loss
    step = th.compile(step)
    return [step(*pair).item() for pair in batches]


def on_rank(axes, engine=None):
    import numpy as np
    import thunder as th
    from thunder import nn, optim
    sizes = dict((name, int(size)) for name, size in (axis.split("=") for axis in axes.split(",")))
    mesh = th.mesh(timeout=60.0, engine=engine, **sizes)
    stages, own, data = sizes["stage"], mesh.index("stage"), sizes.get("data", 1)
    at = mesh.index("data") if data > 1 else 0
    draw = np.random.default_rng(3)
    batches = [draw.integers(0, WORDS, (2, BATCH, LENGTH)) for _ in range(STEPS)]
    tensors = lambda rows: [tuple(th.tensor(half[rows].tolist()).to(mesh.device) for half in pair) for pair in batches]
    loss_of = lambda logits, y: th.cross_entropy(logits.reshape([-1, WORDS]), y.reshape([-1]))

    alone = nn.Sequential(*parts(th, nn)).to(mesh.device)
    wanted = train(th, optim, lambda x, y: ((loss := loss_of(alone(x), y)), th.grad_of(loss, alone.parameters())), alone.parameters(),
                   tensors(slice(None)))
    words, *blocks, head = (part.to(mesh.device) for part in parts(th, nn))
    each = BLOCKS // stages
    stage = nn.Sequential(*([words] if own == 0 else []), *blocks[each * own:each * (own + 1)], *([head] if own == stages - 1 else []))
    params = stage.parameters()
    size = BATCH // data // MICROBATCHES
    hidden = th.zeros(size, LENGTH, WIDTH).to(mesh.device)

    def step_of(x, y):
        microbatches = [(x[size * i:size * (i + 1)], y[size * i:size * (i + 1)]) for i in range(MICROBATCHES)]
        loss, gradients = th.parallel.pipeline(stage, params, loss_of, mesh, microbatches, hidden)
        return (th.all_reduce(loss, "data", "mean") if data > 1 else loss), gradients
    if data > 1:
        step_of = th.parallel.data(step_of, mesh, stage)
    rows = BATCH // data
    found = train(th, optim, step_of, params, tensors(slice(rows * at, rows * (at + 1))))
    worst = max(abs(a - b) for a, b in zip(wanted, found))
    assert worst < TOLERANCE and wanted[-1] < wanted[0], (worst, wanted, found)
    first, last = (0 if own == 0 else 1 + each * own), 1 + each * (own + 1) + (own == stages - 1)
    names = [name for name, _ in alone.named_parameters() if first <= int(name.split(".")[0]) < last]
    assert len(names) == len(params)
    whole = dict(alone.named_parameters())
    for name, p in zip(names, params):
        np.testing.assert_allclose(np.array(p.tolist()), np.array(whole[name].tolist()), atol=1e-4, err_msg=name)
    print(f"rank {mesh.index()}: as one process", flush=True)


def main():
    if sys.argv[1] == "rank":
        return on_rank(*sys.argv[2:])
    from launch import require_of_each_rank
    ranks = math.prod(int(size) for size in re.findall(r"\d+", sys.argv[2]))
    require_of_each_rank("as one process", sys.argv[1], ranks, [sys.executable, __file__, "rank", *sys.argv[2:]], limit=200)


main()
