"""Trains an MLP on the handwritten digits by data parallelism: every process computes on its part of each batch.

    mpirun -n 2 python3 digits.py [--engine nccl] [--steps N] [--every N] [FILE.csv]

Rank 0 prints the loss of every tenth batch, or of every Nth; on one process, without mpirun, the losses are the same.
"""
import argparse
import pathlib

import thunder as th
from thunder import data, nn, optim

BATCH = 64


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=pathlib.Path(__file__).parent.parent / "digits/data/digits.csv")
    parser.add_argument("--engine", help="what moves bytes between ranks: nccl computes on GPUs")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--every", type=int, default=10)
    options = parser.parse_args()

    mesh = th.mesh(data=-1, engine=options.engine)  # as many ranks as there are processes
    th.seed(42)
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).to(mesh.device)
    params = net.parameters()
    opt = optim.AdamW(params, lr=4e-3)

    def step(images, labels):
        loss = th.cross_entropy(net(images.to(mesh.device)), labels.to(mesh.device))
        opt.step(th.grad_of(loss, params))          # the mean over the ranks
        return th.all_reduce(loss, "data", "mean")
    step = th.compile(th.parallel.data(step, mesh, net))

    rows = data.csv(options.file)
    batches = data.batches([rows[:, :64] / 16, rows[:, 64].long()], size=BATCH, shuffle=True, drop_last=True, seed=2)
    part = BATCH // mesh.size("data")
    first, done = part * mesh.index("data"), 0
    while done < options.steps:
        for images, labels in batches:
            loss = step(images[first:first + part], labels[first:first + part])
            done += 1
            if done % options.every == 0 and mesh.index() == 0:
                print(f"step {done}: loss {loss.item():.7f}")
            if done == options.steps:
                break


if __name__ == "__main__":
    main()
