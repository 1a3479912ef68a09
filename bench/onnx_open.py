#!/usr/bin/env python3
"""onnx_open.py [--build DIR]: what opening ONNX models costs, each in a process of its own: the time of load_program and the memory that
becomes resident, which of a file that the system keeps in memory are as many of its pages as it likes to map, of a file of 100 MB and of one with 6 GB beside it (of no bytes on disk); and what ONNX and the engines
are of libthunder.so, and whether any of their code runs at load time."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKER = """
import os, sys, time
import thunder as th
def resident(key):
    return int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1]) / 1024
def opened():
    before, own, start = resident("VmRSS:"), resident("RssAnon:"), time.perf_counter()
    kept.append(th.load_program(sys.argv[1]))
    return (time.perf_counter() - start) * 1e3, resident("VmRSS:") - before, resident("RssAnon:") - own
kept = [th.load_program(sys.argv[2])]  # what is made once
file = os.open(sys.argv[1], os.O_RDONLY)
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
cold = opened()
while os.read(file, 1 << 24): pass
warm = min(opened() for _ in range(5))
print(*cold, *warm)
"""


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value if isinstance(value, bytes) else varint(number << 3) + varint(value)


def model(path, tensors, elements, external=False):
    """y = x + w0 + w1 ..., each weight of so many f32."""
    nodes, weights = b"", []
    for i in range(tensors):
        nodes += field(1, field(1, b"x" if i == 0 else b"s%d" % (i - 1)) + field(1, b"w%d" % i) + field(2, b"y" if i == tensors - 1 else b"s%d" % i) + field(4, b"Add"))
        head = field(1, elements) + field(2, 1) + field(8, b"w%d" % i)
        if external:
            entries = ((b"location", path.name.encode() + b".data"), (b"offset", b"%d" % (4 * elements * i)), (b"length", b"%d" % (4 * elements)))
            weights.append(field(5, head + b"".join(field(13, field(1, k) + field(2, v)) for k, v in entries) + field(14, 1)))
        else:
            weights.append(field(5, head + field(9, bytes(4 * elements))))
    dims = field(2, field(1, field(1, 1) + field(2, field(1, field(1, elements)))))
    graph = nodes + field(2, b"g") + b"".join(weights) + field(11, field(1, b"x") + dims) + field(12, field(1, b"y") + dims)
    path.write_bytes(field(1, 10) + field(7, graph) + field(8, field(1, b"") + field(2, 18)))
    if external:
        with open(str(path) + ".data", "wb") as data:
            data.truncate(4 * elements * tensors)
    return path


def added(build):
    """The bytes of code and data in libthunder.so that are ONNX's and the engines', and their objects with code that runs at load time."""
    ours = re.compile(r"thunder::(onnx|onnx_export|onnxrt|openxla|tvm)::|protozero::|(onnxrt|openxla|tvm)_engine|engine_executor|thunder::RegionModel")
    symbols = subprocess.run(["nm", "-S", "-C", str(build / "lib/libthunder.so")], capture_output=True, text=True, check=True).stdout.splitlines()
    total = sum(int(part[1], 16) for part in (line.split(None, 3) for line in symbols) if len(part) == 4 and ours.search(part[3]))
    files = [f for part in ("thunder_onnx.dir/core/onnx", *("thunder_executors.dir/core/executors/" + engine for engine in ("onnxrt", "openxla", "tvm")))
             for f in (build / "CMakeFiles" / part).rglob("*.o")]
    return total, [f.name for f in files if ".init_array" in subprocess.run(["objdump", "-h", str(f)], capture_output=True, text=True, check=True).stdout]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build
    environment = os.environ | {"PYTHONPATH": str(build / "python")}
    with tempfile.TemporaryDirectory() as folder:
        few = model(pathlib.Path(folder, "few.onnx"), 1, 4)
        for name, path in (("100 MB", model(pathlib.Path(folder, "one.onnx"), 100, 250_000)),
                           ("6 GB of external data", model(pathlib.Path(folder, "big.onnx"), 60, 25_000_000, external=True))):
            done = subprocess.run([sys.executable, "-c", WORKER, str(path), str(few)], env=environment, capture_output=True, text=True, check=True)
            cold_ms, cold, own, ms, warm, _ = map(float, done.stdout.split())
            print(f"{name}: opened in {ms:.2f} ms; resident are {cold:.1f} MB more, {own:.1f} of them its own, of a file that was not in memory ({cold_ms:.1f} ms), "
                  f"and {warm:.1f} MB more of one that was")
    total, running = added(build)
    print(f"ONNX and engines in libthunder.so: {total / 1e6:.2f} MB; of their objects run at load time: {' '.join(running) or 'none'}")


if __name__ == "__main__":
    main()
