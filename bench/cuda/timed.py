"""How PyTorch's side is timed: by the clock of the host, which waits for the GPU before and after."""
import time

import torch


def seconds(work, times, warmup=0):
    """Seconds a call of work(), over so many, after calls that are not counted."""
    for _ in range(warmup):
        work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times
