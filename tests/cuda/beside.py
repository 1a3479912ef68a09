#!/usr/bin/env python3
"""beside.py [--rounds N] [--device cuda] [--small]: tensors of a GPU beside PyTorch and cupy, which work on streams of their own: memory that goes from
one library to the other, that is freed or written there while kernels of the other still read it, and what the host reads of it. Each program
runs so many rounds (100), with kernels slow enough that what is not waited for would be read wrongly. A library that is missing is said, and
left out; the programs that need none run in any case."""
import argparse
import gc
import pickle
import sys
import time

import numpy as np
import thunder as th

N, SLOW = 1 << 20, 2048


def slow(x, ones, dtype="to"):
    """The same x, behind products of ones that take the device a while. dtype: the method that gives numbers another one."""
    a = ones
    for _ in range(4):
        a = (a @ a) * 0 + 1
    return x * getattr(a[0, 0], dtype)(x.dtype)


def ours_slow(x):
    return slow(x, th.ones(SLOW, SLOW, device=x.device))


# ---- what needs no other library ----

def host_reads(number, device):
    x = th.arange(6.0, device=device).reshape(2, 3) + number
    wanted = (np.arange(6.0).reshape(2, 3) + number).astype(np.float32)
    assert x.tolist() == wanted.tolist() and np.array_equal(x.cpu().numpy(), wanted) and np.array_equal(x.numpy(force=True), wanted)
    assert pickle.loads(pickle.dumps(x)).tolist() == wanted.tolist() and x.t()[1].tolist() == wanted.T[1].tolist()
    for read in (lambda: x.numpy(), lambda: np.asarray(x), lambda: bytes(memoryview(x))):
        try:
            read()
        except (TypeError, BufferError) as error:
            assert "Tensor.cpu()" in str(error), error
        else:
            raise AssertionError("memory of a device was read as the host's")


slow_sum, slow_twice, twice = th.compile(lambda x, n: ours_slow(x) + n), th.compile(lambda x: ours_slow(x) * 2), th.compile(lambda x: x * 2)


def reads_behind_slow_kernels(number, device):
    y = slow_sum(th.full((N,), 3.0, device=device), float(number))
    assert y[number % N].item() == 3 + number and y[-1:].tolist() == [3 + number]


def blocks_that_come_back(number, device):
    """Freed blocks are given out again: to nobody before what reads them has run."""
    x = th.full((N,), float(number), device=device)
    y = ours_slow(x) * 2
    del x
    others = [th.full((N,), -1.0, device=device) for _ in range(4)]
    assert y[::N // 8].tolist() == [2.0 * number] * 8, "memory was given out while it was read"
    assert others[0][0].item() == -1


# ---- beside PyTorch ----

def torch_programs(torch):
    side = torch.cuda.Stream()

    def theirs_slow(x):
        return slow(x, torch.ones(SLOW, SLOW, device=x.device))

    def theirs_is_freed(number, device):
        with torch.cuda.stream(side):
            x = theirs_slow(torch.full((N,), number, dtype=torch.int32, device=device))
            y = twice(x)
            del x
            torch.full((N,), -5, dtype=torch.int32, device=device)  # would have the block, had it been given back too early
        assert set(y[::N // 16].tolist()) == {2 * number}

    def theirs_is_written_next(number, device):
        with torch.cuda.stream(side):
            x = theirs_slow(torch.full((N,), number, dtype=torch.int32, device=device))
            y = slow_twice(x)
            x.fill_(-9)
        assert set(y[::N // 16].tolist()) == {2 * number}

    def ours_is_read_there(number, device):
        x = ours_slow(th.full((N,), float(number), device=device)) + 1
        with torch.cuda.stream(side):
            y = torch.from_dlpack(x) * 2
            del x
            th.full((N,), -7.0, device=device)
        side.synchronize()
        assert set(y[::N // 16].tolist()) == {2.0 * number + 2}

    def threads_of_work(number, device):
        """A result goes back and forth five times without a word to the device."""
        x = torch.full((N,), float(number), device=device)
        for _ in range(5):
            with torch.cuda.stream(side):
                x = torch.from_dlpack(twice(x + 1)).clone()
            torch.cuda.current_stream().wait_stream(side)
        wanted = float(number)
        for _ in range(5):
            wanted = (wanted + 1) * 2
        assert set(x[::N // 16].tolist()) == {wanted}
    return [theirs_is_freed, theirs_is_written_next, ours_is_read_there, threads_of_work]


# ---- beside cupy ----

def cupy_programs(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)

    def theirs_slow(x):
        return slow(x, cupy.ones((SLOW, SLOW), dtype=cupy.float32), "astype")

    def cupys_is_freed(number, device):
        with stream:
            x = theirs_slow(cupy.full(N, number, dtype=cupy.int32))
            y = twice(x)
            del x
            cupy.full(N, -5, dtype=cupy.int32)
        assert set(y[::N // 16].tolist()) == {2 * number}

    def cupys_is_written_next(number, device):
        with stream:
            x = theirs_slow(cupy.full(N, number, dtype=cupy.int32))
            y = slow_twice(x)
            x.fill(-9)
        assert set(y[::N // 16].tolist()) == {2 * number}

    def ours_is_read_by_cupy(number, device):
        x = ours_slow(th.full((N,), float(number), device=device)) + 1
        with stream:
            y = cupy.from_dlpack(x) * 2
            del x
            th.full((N,), -7.0, device=device)
        stream.synchronize()
        assert set(y[::N // 16].tolist()) == {2.0 * number + 2}
    return [cupys_is_freed, cupys_is_written_next, ours_is_read_by_cupy]


def programs():
    found = [host_reads, reads_behind_slow_kernels, blocks_that_come_back]
    for name, made in (("torch", torch_programs), ("cupy", cupy_programs)):
        try:
            module = __import__(name)
            found += made(module)
        except Exception as error:  # not installed, or built for no such device
            print(f"{name} is left out: {type(error).__name__}: {error}".splitlines()[0])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="few elements and small products, for the stand-ins")
    options = parser.parse_args()
    if options.small:
        globals().update(N=256, SLOW=8)
    if not th.cuda.is_available():
        print("beside.py: there is no CUDA device")
        return 77
    failed = 0
    for program in programs():
        began, wrong = time.monotonic(), []
        for number in range(options.rounds):
            try:
                program(number + 1, options.device)
            except AssertionError as error:
                wrong.append(f"round {number}: {error}")
        gc.collect()
        failed += bool(wrong)
        print(f"{program.__name__}: {options.rounds - len(wrong)} of {options.rounds} rounds right, {time.monotonic() - began:.1f} s"
              + "".join(f"\n  {line}" for line in wrong[:3]))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
