"""One collective between the GPUs of a host: by the library, eager and compiled, by PyTorch and by NCCL alone. A process for each GPU, by any launcher:

    RANK=r WORLD_SIZE=n LOCAL_RANK=r MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 python3 bench/cuda/collective.py [thunder] [torch] [nccl]    # n processes

Rank 0 prints, of 8 bytes, what a call takes of the host (500 calls in a row) and a call and its end, and of 256 MiB the rate of the bus. torch, and
nccl through it, need PyTorch. `thunder --small` tries it on the stand-ins.
"""
import ctypes
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
SMALL = "--small" in sys.argv
CALLS, WAITS, LARGE = (500, 300, 256 << 20) if not SMALL else (50, 50, 1 << 16)


def say(row, value, unit):
    if RANK == 0:
        print(json.dumps({"row": row, "value": round(value, 2), "unit": unit}), flush=True)


def measure(name, small, large, sync, meet):
    """`small()` is a sum of 8 bytes; `large` a list of (what, bytes of the whole, function)."""
    for _ in range(50):
        small()
    sync(), meet()
    began = time.perf_counter()
    for _ in range(CALLS):
        small()
    host = time.perf_counter() - began
    sync()
    whole = time.perf_counter() - began
    say(f"all_reduce 8 B {name}: host time of a call", host / CALLS * 1e6, "us")
    say(f"all_reduce 8 B {name}: back to back", whole / CALLS * 1e6, "us")
    waits = []
    for _ in range(WAITS):
        began = time.perf_counter()
        small(), sync()
        waits.append(time.perf_counter() - began)
    say(f"all_reduce 8 B {name}: call and wait", statistics.median(waits) * 1e6, "us")
    for what, size, call in large:
        for _ in range(5):
            call()
        rates = []
        for _ in range(3):
            sync(), meet()
            began = time.perf_counter()
            for _ in range(20):
                call()
            sync()
            seconds = (time.perf_counter() - began) / 20
            rates.append(size * (RANKS - 1) / RANKS * (2 if what == "all_reduce" else 1) / seconds / 1e9)
        say(f"{what} {size >> 20} MiB {name}", statistics.median(rates), "GB/s of the bus")


def by_thunder():
    import thunder as th
    mesh = th.mesh(data=-1, engine="nccl")
    if RANK == 0:
        print(mesh, flush=True)
    x = th.ones(2).to(mesh.device)
    whole, part = th.ones(LARGE // 4).to(mesh.device), th.ones(LARGE // 4 // RANKS).to(mesh.device)
    for kind in ("eager", "compiled"):
        make = th.compile if kind == "compiled" else lambda f: f
        calls = [make(lambda t, op=op: op(t, "data")) for op in (th.all_reduce, th.all_gather, th.reduce_scatter)]
        measure(kind, lambda: calls[0](x), [("all_reduce", LARGE, lambda: calls[0](whole)), ("all_gather", LARGE, lambda: calls[1](part)),
                                            ("reduce_scatter", LARGE, lambda: calls[2](whole))], th.cuda.synchronize, mesh.barrier)


def by_torch():
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    x, whole = torch.ones(2, device="cuda"), torch.ones(LARGE // 4, device="cuda")
    part = torch.ones(LARGE // 4 // RANKS, device="cuda")
    measure("torch", lambda: dist.all_reduce(x), [("all_reduce", LARGE, lambda: dist.all_reduce(whole)),
                                                  ("all_gather", LARGE, lambda: dist.all_gather_into_tensor(whole, part)),
                                                  ("reduce_scatter", LARGE, lambda: dist.reduce_scatter_tensor(part, whole))],
            torch.cuda.synchronize, dist.barrier)
    dist.destroy_process_group()


def by_nccl():
    """The library's own functions, called through ctypes on the current stream; the id travels by a file."""
    import nvidia.nccl
    import torch
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    nccl = ctypes.CDLL(str(pathlib.Path(next(iter(nvidia.nccl.__path__))) / "lib" / "libnccl.so.2"))

    class Id(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * 128)]
    own, comm, stream = Id(), ctypes.c_void_p(), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    file = pathlib.Path(tempfile.gettempdir(), f"nccl-id-{os.environ['MASTER_PORT']}")
    if RANK == 0:
        nccl.ncclGetUniqueId(ctypes.byref(own))
        file.with_suffix(".part").write_bytes(bytes(own))
        file.with_suffix(".part").rename(file)
    while not file.exists():
        time.sleep(0.01)
    own = Id.from_buffer_copy(file.read_bytes())
    assert nccl.ncclCommInitRank(ctypes.byref(comm), RANKS, own, RANK) == 0
    x, whole = torch.ones(2, device="cuda"), torch.ones(LARGE // 4, device="cuda")

    def all_reduce(t):
        at, count = ctypes.c_void_p(t.data_ptr()), ctypes.c_size_t(t.numel())
        return lambda: nccl.ncclAllReduce(at, at, count, 7, 0, comm, stream)
    small = all_reduce(x)
    measure("NCCL alone", small, [("all_reduce", LARGE, all_reduce(whole))], torch.cuda.synchronize, lambda: (small(), torch.cuda.synchronize()))
    if RANK == 0:
        file.unlink()
    nccl.ncclCommDestroy(comm)


for chosen in [a for a in sys.argv[1:] if not a.startswith("-")] or ["thunder"]:
    {"thunder": by_thunder, "torch": by_torch, "nccl": by_nccl}[chosen]()
