"""What this machine can do, measured by bench_limits in the same run."""
import json
import os
import subprocess


def measure(*copies):
    """An object with `fma_gflops`, `read_gbps`, `update_gbps`, `threads`, and `copies`: {bytes: nanoseconds}."""
    command = [os.environ["THUNDER_BENCH_LIMITS"], *(str(int(size)) for size in copies)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {**found, "copies": {int(size): ns for size, ns in found["copies"].items()}}
