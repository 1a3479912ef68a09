#!/usr/bin/env python3
"""What a call costs in libtorch, from C++: a + b on 16 floats and a chain of small lines, eager, without gradients, one thread.
Compiles the program below against the libraries of the torch package."""
import pathlib
import subprocess
import tempfile

import torch
from agree import agree
from timing import report
from workloads import chain

PROGRAM = r"""
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

template <class F>
double median_ns(int calls, F&& body) {
  constexpr int kRepeats = 15;
  std::vector<double> samples;
  for (int r = 0; r <= kRepeats; r++) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; i++) body();
    samples.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / calls);
  }
  std::sort(samples.begin() + 1, samples.end());  // the first warms up
  return samples[1 + kRepeats / 2];
}

int main() {
  torch::set_num_threads(1);
  c10::InferenceMode guard;
  torch::Tensor a = torch::arange(16, torch::kFloat32), b = torch::ones({16}), out = torch::empty({16});
  std::printf("%.6g\n", median_ns(20000, [&] { a + b; }));
  std::printf("%.6g\n", median_ns(20000, [&] { torch::add_out(out, a, b); }));
  const torch::Tensor x = torch::remainder(a, 7) * 0.01;
  const auto chain = [&] {
    torch::Tensor y = x;
    for (int i = 0; i < LINKS; i++) y = i % 2 ? torch::cos(y) : torch::sin(y);
    return y;
  };
  std::printf("%.6g\n", median_ns(CALLS, chain));
  const torch::Tensor y = chain();
  for (int i = 0; i < 16; i++) std::printf("%.9g\n", y[i].item<float>());
}
"""
ROWS = ("call: add 16 f32", "call: add 16 f32, bound result", chain.NAME)


def main():
    root = pathlib.Path(torch.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "call.cpp"), pathlib.Path(folder, "call")
        source.write_text(PROGRAM)
        headers = [f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}"]
        libraries = [f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10"]
        sizes = [f"-DLINKS={chain.LINKS}", f"-DCALLS={chain.CALLS}"]
        abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
        subprocess.run(["g++", "-std=c++20", "-O2", "-w", abi, *sizes, *headers, str(source), "-o", str(program), *libraries], check=True)
        found = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    agree(chain.NAME, torch.tensor([float(x) for x in found[len(ROWS):]]), torch.tensor(chain.expected()))
    for name, ns in zip(ROWS, found):
        report(name, "ns", float(ns), peer="libtorch", note=f"libtorch {torch.__version__}, from C++, InferenceMode, one thread")


if __name__ == "__main__":
    main()
