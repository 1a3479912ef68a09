#!/usr/bin/env python3
"""layers_record.py [--check]: writes layers.json, what PyTorch makes of layers_cases.py, or compares with what is there, as far as
rounding goes. Needs torch: bench/setup-peers has one."""
import json
import math
import pathlib
import sys

import layers_cases as cases
import torch
from torch import nn, optim
from torch.optim import lr_scheduler

FILE = pathlib.Path(__file__).with_name("layers.json")


def numbers(tensor):
    return [float(f"{x:.6g}") for x in tensor.detach().double().flatten().tolist()]


def layer(text, specs, flags):
    torch.manual_seed(0)
    try:
        module = eval("nn." + text)
    except (AttributeError, TypeError) as error:  # newer than this PyTorch
        return {"missing": str(error)}
    state = [(name, list(t.shape)) for name, t in module.state_dict().items() if t.is_floating_point()]
    module.load_state_dict(cases.fill(state, torch.from_numpy), strict=False)
    module.train("train" in flags)
    for _ in range(2 if "train" in flags else 1):
        with torch.no_grad():
            out = module(*cases.inputs(specs, torch.from_numpy))
    row = {"state": [[name, list(t.shape)] for name, t in module.state_dict().items()],
           "out": [[list(t.shape), numbers(t)] for t in cases.leaves(out)]}
    if "train" in flags:
        row["buffers"] = {name: numbers(t) for name, t in module.named_buffers()}
    return row


def parameters():
    return [nn.Parameter(torch.from_numpy(cases.wave(shape))) for _, shape in cases.PARAMETERS]


def optimizer(text):
    p = parameters()
    made = eval("optim." + text, {"optim": optim, "p": p})
    for step in range(1, cases.STEPS + 1):
        for number, t in enumerate(p):
            t.grad = torch.from_numpy(cases.wave(tuple(t.shape), step + 0.5 * number))
        made.step()
    state = made.state_dict()["state"]
    return {"parameters": [numbers(t) for t in p], "state": {name: numbers(torch.as_tensor(t)) for name, t in state.get(0, {}).items() if t is not None}}


def closures(text, steps):
    p = parameters()
    made = eval("optim." + text, {"optim": optim, "p": p})

    def closure():
        made.zero_grad()
        loss = cases.valley(p)
        loss.backward()
        return loss

    losses = [made.step(closure).item() for _ in range(steps)]
    row = {"losses": losses, "parameters": [numbers(t) for t in p]}
    if "history_size" in text:  # what is left of the others is rounding: they end in the minimum
        row["state"] = {name: numbers(torch.stack([torch.as_tensor(t) for t in value]) if isinstance(value, list) else torch.as_tensor(value))
                        for name, value in made.state_dict()["state"][0].items() if name not in ("al", "prev_loss")}
        row["after"] = [made.step(closure).item() for _ in range(2)]
    return row


def schedule(text, metrics=None):
    o = optim.SGD(parameters(), lr=0.8)
    made, rates = eval("s." + text, {"s": lr_scheduler, "o": o}), []
    for step in range(cases.SCHEDULE_STEPS):
        rates.append(o.param_groups[0]["lr"])
        o.step()
        made.step(*([metrics[step]] if metrics else []))
    return rates


def course(text, by_hand):
    o = optim.SGD(parameters(), lr=0.8)
    made, rates = eval(text, {"s": lr_scheduler, "o": o}), []
    for step in range(cases.SCHEDULE_STEPS):
        if step in by_hand:
            o.param_groups[0]["lr"] = by_hand[step]
        o.step()
        for one in made:
            one.step()
        rates.append([o.param_groups[0]["lr"], *(one.get_last_lr()[0] for one in made), *(one.last_epoch for one in made if hasattr(one, "last_epoch"))])
    return rates


def record():
    # The kernel that inference of a TransformerEncoderLayer takes otherwise gives NaN with a float mask.
    if hasattr(torch.backends, "mha"):
        torch.backends.mha.set_fastpath_enabled(False)
    return {"torch": torch.__version__, "layers": [[text, layer(text, *rest)] for text, *rest in cases.LAYERS],
            "optimizers": {text: optimizer(text) for text in cases.OPTIMIZERS},
            "closures": {text: closures(text, steps) for text, steps in cases.CLOSURES},
            "schedules": {text: schedule(text) for text in cases.SCHEDULES},
            "courses": [course(text, by_hand) for text, by_hand in cases.COURSES],
            "plateaus": {text: schedule(text, cases.METRICS) for text in cases.PLATEAUS}}


def differences(here, there, path=""):
    """Where the two differ, as paths."""
    if isinstance(here, float) or isinstance(there, float):
        # L-BFGS keeps inverses of small curvatures, which magnify how a processor rounds.
        within = 1e-3 if "/ro/" in path or "/H_diag/" in path else 1e-4
        return [] if math.isclose(here, there, rel_tol=within, abs_tol=1e-5) else [path]
    if isinstance(here, dict) and isinstance(there, dict) and here.keys() == there.keys():
        return [found for key in here for found in differences(here[key], there[key], f"{path}/{key}")]
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        return [found for i, (a, b) in enumerate(zip(here, there)) for found in differences(a, b, f"{path}/{i}")]
    return [] if here == there else [path]


def main():
    made = record()
    text = json.dumps(made, indent=None, separators=(",", ":")).replace('],["', '],\n["') + "\n"
    if "--check" not in sys.argv:
        FILE.write_text(text)
        return
    there = json.loads(FILE.read_text())
    there["torch"] = made["torch"] = ""  # which one it was
    found = differences(json.loads(json.dumps(made)), there)
    if found:
        sys.exit(f"{FILE.name} is not what PyTorch {torch.__version__} gives:\n" + "\n".join(found[:40]))


if __name__ == "__main__":
    main()
