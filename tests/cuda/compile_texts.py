#!/usr/bin/env python3
"""compile_texts.py BUILD [--share N]: compiles the kernels of the battery's ops with NVIDIA's own run-time compiler, without a GPU: 300 texts for
sm_90a (Hopper), and 30 each for sm_80 (Ampere) and sm_100a (Blackwell). The texts are those that the stand-in for NVRTC is given while a
share of the battery runs. Ends with 77 where NVRTC is not installed (tools/setup-nvrtc)."""
import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHITECTURES = (("sm_90a", 300), ("sm_80", 30), ("sm_100a", 30))


def nvrtc():
    for name in (os.environ.get("THUNDER_REAL_NVRTC"), ROOT / ".nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so.12"):
        try:
            if name:
                return ctypes.CDLL(str(name))
        except OSError:
            pass  # the next one
    return None


def texts(build, share):
    """What the stand-in compiled for every share-th case of the battery, eager and compiled, with nothing on disk."""
    fake = build / "fake_cuda"
    with tempfile.TemporaryDirectory() as folder:
        kept, cache = pathlib.Path(folder, "texts"), pathlib.Path(folder, "cache")
        kept.mkdir()
        environment = {**os.environ, "THUNDER_CUDA_DRIVER": f"{fake}/libcuda.so.1", "THUNDER_NVRTC": f"{fake}/libnvrtc.so.13",
                       "THUNDER_CUBLASLT": f"{fake}/libcublasLt.so.13", "THUNDER_CUDNN": f"{fake}/libcudnn.so.9",
                       "THUNDER_CUBLAS": f"{fake}/libcublas.so.13", "THUNDER_CUSOLVER": f"{fake}/libcusolver.so.12",
                       "THUNDER_FAKE_CUDA_TEXTS": str(kept), "THUNDER_CACHE_DIR": str(cache), "THUNDER_BATTERY_SHARE": str(share)}
        subprocess.run([build / "bin/cuda_test", "--gtest_filter=CudaBattery.compiled*:CudaPrograms*:CudaNarrow*:CudaJoined*:CudaRows*:CudaOrder*", "--gtest_brief=1"], cwd=ROOT / "tests", env=environment,
                       check=True, stdout=subprocess.DEVNULL)
        return [path.read_text() for path in sorted(kept.iterdir())]


def refused(library, text, architecture):
    """What the compiler says against the text; None: nothing."""
    options = [o for o in text.partition("\n")[0][2:].split() if not o.startswith("--gpu-architecture")] + [f"--gpu-architecture={architecture}"]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None):
        return "nvrtcCreateProgram failed"
    given = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    failed = library.nvrtcCompileProgram(program, len(options), given)
    said = None
    if failed:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        library.nvrtcGetProgramLog(program, log)
        said = f"nvrtcCompileProgram gave {failed}\n{log.value.decode()}\n{text}"
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--share", type=int, default=6, help="one of so many cases of the battery is run (6)")
    options = parser.parse_args()
    library = nvrtc()
    if not library:
        print("NVRTC is not installed: tools/setup-nvrtc")
        return 77
    found = texts(options.build.resolve(), options.share)
    random.Random(0).shuffle(found)
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for architecture, most in ARCHITECTURES:
            chosen = found[:most]
            said = [s for s in pool.map(lambda text: refused(library, text, architecture), chosen) if s]
            print(f"{architecture}: {len(chosen)} texts compiled, {len(said)} refused")
            print("\n".join(said[:3]), end="")
            wrong += len(said)
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
