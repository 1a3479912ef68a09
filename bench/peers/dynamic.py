#!/usr/bin/env python3
"""The rows of bench/groups/dynamic.py through torch.compile(dynamic=True), which compiles one program for all lengths. The decoder is eager,
too."""
import statistics
import time

import torch
import ways
from agree import agree
from timing import median_ms, median_ns, report
from torch import nn
from torch.nn import functional
from workloads import dynamic

WAY = ways.Way("torch compile dynamic", lambda f: torch.compile(f, dynamic=True))


def main():
    torch.manual_seed(0)
    net = dynamic.model(nn, functional)
    parameters = list(net.parameters())

    def loss_of(tokens, targets, positions):
        return functional.cross_entropy(net(tokens, positions).reshape(-1, dynamic.VOCABULARY), targets.reshape(-1))

    def inputs(length):
        tokens = torch.randint(0, dynamic.VOCABULARY, [dynamic.BATCH, length])
        return tokens, tokens, torch.arange(length)

    prepared = WAY.prepare(loss_of)

    def step(*call):
        return torch.autograd.grad(prepared(*call), parameters)

    agree(dynamic.NEW, prepared(*inputs(17)), loss_of(*inputs(17)), tolerance=1.0)
    news = []
    for length in dynamic.lengths(100):
        call = inputs(length)
        start = time.perf_counter()
        step(*call)
        between = time.perf_counter()
        step(*call)
        news.append(1e3 * (2 * between - start - time.perf_counter()))
    report(dynamic.NEW, "ms", statistics.median(news[20:]), **WAY.reported())
    call = inputs(129)
    report(dynamic.SEEN, "ms", median_ms(lambda: step(*call)), **WAY.reported())
    three = [torch.ones(8, 8) for _ in range(3)]
    varied = WAY.prepare(lambda a, b, c: a + b + c)
    with torch.no_grad():
        report(dynamic.GUARDS, "ns", median_ns(lambda: varied(*three)), **WAY.reported())
        for way in (ways.EAGER, WAY):
            for name, decode in zip((dynamic.DECODE, dynamic.DECODE_MASKED), dynamic.decoder(torch, torch.softmax)):
                one, x = way.prepare(decode), torch.ones(2, 64)
                start = time.perf_counter()
                for position in range(dynamic.DECODED):
                    x = one(x, position)
                report(name, "ms", 1e3 * (time.perf_counter() - start), **way.reported())


if __name__ == "__main__":
    main()
