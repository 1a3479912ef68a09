#!/usr/bin/env python3
"""Sizes and positions that vary: what a new length costs, beyond a call of it, and one that was seen before, whose limit is a program made
for its size alone; guards; decoding by growing positions; how often functions are traced and kernels compiled; and loading a large
program, whose limit is reading its file."""
import os
import statistics
import tempfile
import time

import thunder as th
from thunder import nn
from timing import median_ns, report, report_beside
from workloads import dynamic


def counted(function):
    def body(*args):
        body.traced += 1
        return function(*args)
    body.traced = 0
    return body


def kernels():
    """How many the process has compiled."""
    return th.compiler.save_cache_artifacts()[1].cpu_kernels


def time_load():
    """A program that looks up tokens and gives their logits, with as many parameters as GPT-2's 124M; the file is in memory, as is what it
    is compared with: the time to read it."""
    table = nn.Embedding(50257, 768 * 3)
    f = th.compile(lambda tokens: table(tokens).sum(-1))
    f(th.arange(8))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.thunder")
        th.save_program(f, path)
        memory = bytearray(os.path.getsize(path))

        def read_ms():
            start = time.perf_counter()
            with open(path, "rb", buffering=0) as file:
                read = 0
                while read < len(memory):
                    read += file.readinto(memoryview(memory)[read:])
            return 1e3 * (time.perf_counter() - start)
        report_beside(dynamic.LOAD, "ms", lambda: th.load_program(path), read_ms)


def main():
    th.seed(0)
    net = dynamic.model(nn, th)
    parameters = net.parameters()

    @counted
    def train(tokens, targets, positions):
        loss = th.cross_entropy(net(tokens, positions).reshape(-1, dynamic.VOCABULARY), targets.reshape(-1))
        return loss, th.grad_of(loss, parameters)

    def inputs(length):
        tokens = th.randint(0, dynamic.VOCABULARY, [dynamic.BATCH, length])
        return tokens, tokens, th.arange(length)

    step, fixed = th.compile(train), th.compile(train, dynamic=False)
    news = []
    early = None
    for length in dynamic.lengths(1000):
        if len(news) == 20 and early is None:
            early = kernels()
        call, before = inputs(length), th.stats(step)["misses"]
        start = time.perf_counter()
        step(*call)
        between = time.perf_counter()
        step(*call)
        if th.stats(step)["misses"] > before:
            news.append(1e3 * (2 * between - start - time.perf_counter()))
    report(dynamic.TRACES, "traces", train.traced)
    report(dynamic.KERNELS, "kernels", kernels() - early)
    report(dynamic.NEW, "ms", statistics.median(news[20:]))
    call = inputs(129)

    def fixed_ms():
        start = time.perf_counter()
        fixed(*call)
        return 1e3 * (time.perf_counter() - start)
    fixed(*call)
    report_beside(dynamic.SEEN, "ms", lambda: step(*call), fixed_ms)

    three = [th.ones(8, 8) for _ in range(3)]
    varied, plain = (th.compile(lambda a, b, c: a + b + c, dynamic=varies) for varies in (True, False))
    report(dynamic.GUARDS, "ns", median_ns(lambda: plain(*three)), limit=True)
    report(dynamic.GUARDS, "ns", median_ns(lambda: varied(*three)))

    def decoded(decode, told=False):
        """Milliseconds and traces. `told`: that sizes do not vary and integers do."""
        body = counted(decode)
        one, x = th.compile(body, dynamic=True if told else None), th.ones(2, 64)
        if told:
            th.mark_static(x, [0, 1])
        start = time.perf_counter()
        for position in range(dynamic.DECODED):
            x = one(x, position)
        return 1e3 * (time.perf_counter() - start), body.traced
    cut, masked = dynamic.decoder(th, th.softmax)
    report(dynamic.DECODE, "ms", decoded(cut)[0])
    took, traces = decoded(masked)
    report(dynamic.DECODE_MASKED, "ms", took)
    report(dynamic.DECODE_TRACES, "traces", traces)
    report(dynamic.DECODE_TRACES_SAID, "traces", decoded(masked, told=True)[1])
    time_load()


if __name__ == "__main__":
    main()
