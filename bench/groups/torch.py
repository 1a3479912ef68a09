#!/usr/bin/env python3
"""What a call of torch.compile(backend="thunder") costs: minima of interleaved rounds, one thread, beside backends that do nothing.

The peers: no-op (Dynamo and a C function that gives what it gave), aot no-op (AOTAutograd's wrapper around it), eager, and of a
backward Dynamo with an autograd.Function written by hand."""
import functools
import json
import os
import sys
import time
import types

sys.path.pop(0)  # this folder, where this file is called torch

import noop  # noqa: E402
import torch  # noqa: E402
from timing import report  # noqa: E402
from torch._dynamo.backends.common import aot_autograd  # noqa: E402

import thunder.torch  # noqa: E402, F401

ROUNDS, CALLS = int(os.environ.get("THUNDER_BENCH_ROUNDS", "60")), 200


def minima(bodies):
    """Microseconds of a call of each, the least of rounds in which all take turns."""
    best = dict.fromkeys(bodies, float("inf"))
    for body in bodies.values():
        for _ in range(20):
            body()
    for _ in range(ROUNDS):
        for name, body in bodies.items():
            start = time.perf_counter_ns()
            for _ in range(CALLS):
                body()
            best[name] = min(best[name], (time.perf_counter_ns() - start) / CALLS / 1e3)
    return best


def rows(name, bodies):
    found = minima(bodies)
    for who, value in found.items():
        if who != "thunder":
            print(json.dumps({"name": f"torch: {name}", "unit": "us", "value": value, "peer": who}), flush=True)
    report(f"torch: {name}", "us", found["thunder"])


def own(function):
    """The function with a code of its own: Dynamo keeps what it compiled by code."""
    return types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__)


def compiled(function, backend="thunder", **options):
    return torch.compile(own(function), backend=backend, fullgraph=True, dynamic=False, **options)


aot_noop = aot_autograd(fw_compiler=lambda graph, inputs: boxed(noop.backend(graph, inputs)))


def boxed(function):
    def call(arguments):
        arguments.clear()
        return function()
    call._boxed_call = True
    return call


def add(x, y):
    return x + y


class Many(torch.nn.Module):
    """144 parameters, twelve a block, and little to compute."""

    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([torch.nn.ParameterList([torch.ones(4) for _ in range(12)]) for _ in range(12)])

    def forward(self, x):
        for block in self.blocks:
            for parameter in block:
                x = x + parameter
        return x


def many(backend, **options):
    """The module compiled, with a code of its own."""
    return torch.compile(type("Many", (Many,), {"forward": own(Many.forward)})(), backend=backend, fullgraph=True, dynamic=False, **options)


class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * y, gradient * x


def by_hand(graph, inputs):
    return lambda x, y: (Mul.apply(x, y),)


def trained(function):
    x, y, gradient = torch.ones(16, requires_grad=True), torch.ones(16, requires_grad=True), torch.ones(16)

    def step():
        function(x, y).backward(gradient)
        x.grad = y.grad = None
    return step


def add_rows():
    x, y = torch.ones(16), torch.ones(16)
    calls = {"thunder": compiled(add), "no-op": compiled(add, noop.backend), "aot no-op": compiled(add, aot_noop), "eager": add}
    rows("add 16 f32", {who: functools.partial(call, x, y) for who, call in calls.items()})


def parameter_rows():
    x = torch.ones(4)
    for name, options in (("144 parameters", None), ("144 parameters, frozen", {"freezing": True})):
        calls = {"thunder": many("thunder", options=options), "no-op": many(noop.backend), "aot no-op": many(aot_noop)}
        rows(name, {who: functools.partial(call, x) for who, call in calls.items()})


def training_rows():
    def mul(x, y):
        return x * y
    calls = {"thunder": compiled(mul), "by hand": compiled(mul, by_hand), "eager": mul}
    rows("mul 16 f32, forward and backward", {who: trained(call) for who, call in calls.items()})


def main():
    torch.set_num_threads(1)
    with torch.no_grad():
        add_rows()
        parameter_rows()
    training_rows()


if __name__ == "__main__":
    main()
