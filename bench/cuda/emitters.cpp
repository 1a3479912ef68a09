// Ten kernels through two compilers: CUDA C++ by NVRTC, and PTX that LLVM made, by the driver. How long each takes, whether both
// compute the same bits, and how fast they are.
//
//     emitters kernels.cu FOLDER: FOLDER/NUMBER.ptx are the same kernels as LLVM compiled them (bench/cuda/run makes them)
#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "nvrtc.h"

namespace {

struct Kernel {
  const char* name;
  bool by_rows;  // a block a row; else a thread eight elements
  int streams;   // tensors of bf16 that it moves
};
constexpr Kernel kKernels[] = {{"gelu", false, 2},       {"gelu_backward", false, 3},       {"swiglu", false, 3},  {"layer_norm", true, 2},
                               {"layer_norm_backward", true, 3}, {"rms_norm", true, 2}, {"softmax", true, 2}, {"softmax_backward", true, 3},
                               {"cross_entropy", true, 1}, {"adamw", false, 11}};
constexpr int kRows = 16384, kColumns = 4096, kThreads = 256;

double milliseconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

std::string file(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

struct Tensors {
  size_t elements = size_t{kRows} * kColumns;
  driver::Pointer x = driver::allocate(elements * 2), g = driver::allocate(elements * 2), b = driver::allocate(elements * 2),
                  y = driver::allocate(elements * 2), state = driver::allocate(elements * 8);
  std::vector<uint16_t> noise = std::vector<uint16_t>(elements);
  Tensors() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (auto& v : noise) {
      const float f = normal(random);
      uint32_t bits;
      std::memcpy(&bits, &f, sizeof bits);
      v = static_cast<uint16_t>(bits >> 16);
    }
    driver::upload(x, noise.data(), elements * 2);
    std::rotate(noise.begin(), noise.begin() + 4099, noise.end());
    driver::upload(g, noise.data(), elements * 2), driver::upload(b, noise.data(), elements * 2);
  }
  void reset() const {
    driver::upload(y, noise.data(), elements * 2);
    driver::call("cuMemsetD8_v2", state, static_cast<unsigned char>(0), elements * 8);
  }
};

// The bits that it leaves, and the microseconds that it takes.
double run(const Kernel& k, driver::Module module, Tensors& t, std::vector<uint16_t>& left) {
  driver::Function f = nullptr;
  driver::call("cuModuleGetFunction", &f, module, k.name);
  int rows = kRows, columns = kColumns;
  void* args[] = {&t.x, &t.g, &t.b, &t.y, &t.state, &rows, &columns};
  const auto blocks = k.by_rows ? unsigned{kRows} : static_cast<unsigned>(t.elements / 8 / kThreads);
  const auto launch = [&] {
    driver::call("cuLaunchKernel", f, blocks, 1u, 1u, unsigned{kThreads}, 1u, 1u, 0u, driver::Stream{}, static_cast<void**>(args), static_cast<void**>(nullptr));
  };
  t.reset();
  launch();
  driver::wait();
  left.resize(t.elements + 2 * kRows);
  driver::download(left.data(), t.y, t.elements * 2);
  driver::download(left.data() + t.elements, t.state, 4 * kRows);
  return driver::median_time(50, launch);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) driver::die("usage", "emitters kernels.cu FOLDER");
  driver::start();
  const std::string source = file(arguments[1]);
  std::printf("dlopen of NVRTC %.1f ms, ", milliseconds_of(driver::nvrtc));
  std::printf("first compile %.1f ms\n", milliseconds_of([&] { driver::cubin_of(source, {"-DONLY=" + std::to_string(0)}); }));
  Tensors tensors;
  const size_t bytes = tensors.elements * 2;
  const double copy = driver::median_time(50, [&] { driver::call("cuMemcpyDtoDAsync_v2", tensors.y, tensors.x, bytes, driver::Stream{}); });
  std::printf("copy of %zu MiB: %.1f us, %.2f TB/s\n\n", bytes >> 20, copy, 2e-6 * static_cast<double>(bytes) / copy);
  std::printf("%-20s %10s %10s %10s %10s %10s %7s %7s %s\n", "", "nvrtc ms", "load ms", "driver ms", "nvrtc us", "llvm us", "of copy", "ratio", "bits");
  for (int i = 0; i < 10; i++) {
    const Kernel& k = kKernels[i];
    std::string cubin;
    driver::Module by_nvrtc = nullptr, by_llvm = nullptr;
    const double compile = milliseconds_of([&] { cubin = driver::cubin_of(source, {"-DONLY=" + std::to_string(i)}); });
    const double load = milliseconds_of([&] { driver::call("cuModuleLoadData", &by_nvrtc, static_cast<const void*>(cubin.data())); });
    const std::string ptx = file(std::string(arguments[2]) + "/" + std::to_string(i) + ".ptx");
    const double jit = milliseconds_of([&] { driver::call("cuModuleLoadData", &by_llvm, static_cast<const void*>(ptx.c_str())); });
    std::vector<uint16_t> first, second;
    const double a = run(k, by_nvrtc, tensors, first), b = run(k, by_llvm, tensors, second);
    std::printf("%-20s %10.1f %10.2f %10.1f %10.1f %10.1f %7.2f %7.2f %s\n", k.name, compile, load, jit, a, b,
                copy / 2 * k.streams / a, b / a, first == second ? "equal" : "differ");
  }
}
