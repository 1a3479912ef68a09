#!/usr/bin/env python3
"""torch_models.py [NAME,..] [infer|train]: sixteen kinds of models under torch.compile(backend="thunder"), beside eager and Inductor, in turns.

A row is the least milliseconds of a forward, or of a forward and backward, over rounds in which all take turns; the row "first call" is
seconds, with nothing kept from before, where aot_eager is what Dynamo and AOTAutograd take of it. The last rows are geometric means of our
time by a peer's, and our share of the first calls by Inductor's: what either adds to aot_eager, of all models. The model's own first result is
the loss."""
import copy
import json
import math
import os
import sys
import tempfile
import time

sys.path.pop(0)  # this folder, where a file is called torch

import torch  # noqa: E402
from timing import report  # noqa: E402
from workloads import torch_models  # noqa: E402

import thunder.torch  # noqa: E402, F401

SECONDS = float(os.environ.get("THUNDER_BENCH_SECONDS", "6"))  # of the rounds of a row
BACKENDS = ("thunder", "eager", "inductor", "aot_eager")


def loss_of(out):
    first = out[0] if isinstance(out, tuple) else out.loss if getattr(out, "loss", None) is not None else next(iter(out.values()))
    return first if first.ndim == 0 else first.sum()


def step(function, model, inputs, trains):
    if not trains:
        with torch.no_grad():
            return function(**inputs)
    model.zero_grad(set_to_none=True)
    return loss_of(function(**inputs)).backward()


def line(name, unit, who, value):
    if who == "thunder":
        return report(f"torch_models: {name}", unit, value)
    return print(json.dumps({"name": f"torch_models: {name}", "unit": unit, "value": value, "peer": who}), flush=True)


def rounds(bodies):
    """The least milliseconds of each."""
    best, end = dict.fromkeys(bodies, float("inf")), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for who, body in bodies.items():
            start = time.perf_counter()
            body()
            best[who] = min(best[who], 1e3 * (time.perf_counter() - start))
    return best


def measured(make, trains):
    name = f"{make.__name__}, {'train' if trains else 'infer'}"
    torch.manual_seed(0)
    model, inputs = make()
    model.train(trains)
    bodies, first = {}, {}
    torch._dynamo.reset()
    for who in BACKENDS:
        own = copy.deepcopy(model)
        function = own if who == "eager" else torch.compile(own, backend=who)
        start = time.perf_counter()
        step(function, own, inputs, trains)
        first[who] = time.perf_counter() - start
        if who != "aot_eager":
            step(function, own, inputs, trains)
            bodies[who] = lambda f=function, m=own: step(f, m, inputs, trains)
    best = rounds(bodies)
    for who in ("eager", "inductor", "thunder"):
        line(name, "ms", who, best[who])
    for who in ("inductor", "aot_eager", "thunder"):
        line(f"{name}, first call", "s", who, first[who])
    return best, {who: first[who] - first["aot_eager"] for who in ("thunder", "inductor")}


def means(mode, found):
    """Geometric means of a mode's models; our share of all first calls."""
    def mean(of):
        return math.exp(sum(map(math.log, of)) / len(of))
    for peer in ("eager", "inductor"):
        line(f"{mode}, our time by {peer}'s", "1", "thunder", mean([best["thunder"] / best[peer] for best, _ in found]))
    line(f"{mode}, our part of the first calls by inductor's", "1", "thunder", sum(own["thunder"] for _, own in found) / sum(own["inductor"] for _, own in found))


def main():
    named = set(sys.argv[1].split(",")) if len(sys.argv) > 1 else None
    modes = {"infer": (False,), "train": (True,)}.get(sys.argv[2] if len(sys.argv) > 2 else "", (False, True))
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        made = [make for make in torch_models.ALL if not named or make.__name__ in named]
        found = {trains: [] for trains in modes}
        for make in made:
            for trains in modes:
                found[trains].append(measured(make, trains))
        for trains, all_of_them in found.items():
            means("train" if trains else "infer", all_of_them)


if __name__ == "__main__":
    main()
