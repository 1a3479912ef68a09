"""Tokens a second of GPT-2 124M in training: on each GPU alone, then by data parallelism over all of them. A process for each GPU, by any launcher:

    for r in 0 1; do RANK=$r WORLD_SIZE=2 LOCAL_RANK=$r MASTER_ADDR=localhost MASTER_PORT=29500 python3 gpt2_data_parallel.py & done; wait
    python3 gpt2_data_parallel.py [--batch B] [--length T] [--steps N] [--size LAYERS,WIDTH,HEADS,VOCABULARY] [--show FILE]

Weights and gradients are float32, products bfloat16 by autocast; AdamW. Rank 0 prints; FILE gets the lines that run.
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import thunder as th  # noqa: E402
from thunder import nn, optim  # noqa: E402

from workloads import gpt2  # noqa: E402

CHUNKS, WARMUP = 3, 3


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--size", default=f"{gpt2.LAYERS},{gpt2.WIDTH},{gpt2.HEADS},{gpt2.VOCABULARY}")
    parser.add_argument("--engine", default="nccl")
    parser.add_argument("--show", help="file for the compiled lines of rank 0")
    return parser.parse_args()


def make_step(mesh, chosen, parallel):
    """A step on this rank's own tokens, of a new model that is the same on all ranks."""
    th.seed(0)
    net = gpt2.model(nn, th).to(mesh.device)
    parameters = net.parameters()
    optimizer = optim.AdamW(parameters, lr=1e-4)
    positions = th.arange(chosen.length).to(mesh.device)

    def step(tokens):
        with th.autocast(mesh.device.type, dtype=th.bfloat16):
            logits = net(tokens[:, :-1], positions)
        loss = th.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        optimizer.step(th.grad_of(loss, parameters))
        return loss
    return th.compile(th.parallel.data(step, mesh, net) if parallel else step)


def measure(mesh, chosen, parallel):
    """Seconds of a step, of the first one, and its last loss; ranks begin together."""
    if mesh.device.type == "cuda":
        th.cuda.empty_cache()
        th.cuda.reset_peak_memory_stats()
    step = make_step(mesh, chosen, parallel)
    rows = th.randint(0, gpt2.VOCABULARY - 1, [mesh.size() * chosen.batch, chosen.length + 1])
    tokens = rows[mesh.index() * chosen.batch:(mesh.index() + 1) * chosen.batch].clone().to(mesh.device)
    mesh.barrier()
    began = time.perf_counter()
    step(tokens).item()
    first = time.perf_counter() - began
    for _ in range(WARMUP):
        step(tokens)
    step(tokens).item()
    times = []
    for _ in range(CHUNKS):
        mesh.barrier()
        began = time.perf_counter()
        for _ in range(chosen.steps):
            loss = step(tokens)
        last = loss.item()
        times.append((time.perf_counter() - began) / chosen.steps)
    if chosen.show and parallel and mesh.index() == 0:
        pathlib.Path(chosen.show).write_text(str(th.last_traces(step)[-1]))
    return statistics.median(times), first, last


def main():
    chosen = options()
    gpt2.LAYERS, gpt2.WIDTH, gpt2.HEADS, gpt2.VOCABULARY = map(int, chosen.size.split(","))
    gpt2.CONTEXT = max(gpt2.CONTEXT, chosen.length)
    mesh = th.mesh(data=-1, engine=chosen.engine)
    ranks, alone = mesh.size(), None
    for parallel in (False, True) if ranks > 1 else (False,):
        seconds, first, loss = measure(mesh, chosen, parallel)
        used = ranks if parallel else 1
        rate = used * chosen.batch * chosen.length / seconds
        alone = alone or rate
        peak = f", {th.cuda.max_memory_allocated() >> 20} MiB at most" if mesh.device.type == "cuda" else ""
        if mesh.index() == 0:
            print(f"data parallel on {used}: {rate:.0f} tokens/s, {rate / used / alone:.3f} of {used} x one, {seconds * 1e3:.2f} ms a step, "
                  f"first step {first:.1f} s, loss {loss:.4f}{peak}", flush=True)
    if mesh.index() == 0:
        print(mesh)


if __name__ == "__main__":
    main()
