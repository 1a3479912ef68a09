#!/usr/bin/env python3
"""llvm_time.py DIR: processor milliseconds of opt-19 -O2 and llc-19 -O2 on DIR/ptx/NUMBER.ll, less those of an empty module; least of five."""
import pathlib
import resource
import subprocess
import sys
import tempfile


def cpu_ms(*command):
    best = float("inf")
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best * 1000


def main():
    folder = pathlib.Path(sys.argv[1]) / "ptx"
    with tempfile.TemporaryDirectory() as room:
        empty, out = f"{room}/empty.ll", f"{room}/out"
        pathlib.Path(empty).touch()
        no_opt = cpu_ms("opt-19", "-O2", empty, "-o", out)
        no_llc = cpu_ms("llc-19", "-O2", "-mtriple=nvptx64-nvidia-cuda", "-mcpu=sm_90", empty, "-o", out)
        for number in range(10):
            opt = cpu_ms("opt-19", "-O2", folder / f"{number}.ll", "-o", out) - no_opt
            llc = cpu_ms("llc-19", "-O2", "-mcpu=sm_90", "-mattr=+ptx83", folder / f"{number}.optimised.ll", "-o", out) - no_llc
            print(f"{number}: opt {opt:.1f} ms, llc {llc:.1f} ms")


if __name__ == "__main__":
    main()
