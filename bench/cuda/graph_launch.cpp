// What the driver takes of the host's time for a kernel and for a graph: the floors under a call of ours. For 1 and 64 kernels, one
// after the other, the median of calls before each of which the device was waited for.
#include <chrono>
#include <string>

#include "nvrtc.h"

namespace {

using Graph = struct CUgraph_st*;
using Executable = struct CUgraphExec_st*;

const std::string kSource = "extern \"C\" __global__ void add(float* out, const float* a, const float* b) {\n"
                            "  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];\n}\n";

template <class F>
double host_us(const F& run) {
  std::vector<double> times;
  for (int i = 0; i < 300; i++) {
    driver::wait();
    const auto begin = std::chrono::steady_clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  driver::start();
  const std::string cubin = driver::cubin_of(kSource);
  driver::Module module = nullptr;
  driver::Function add = nullptr;
  driver::Stream stream = nullptr;
  driver::call("cuModuleLoadData", &module, static_cast<const void*>(cubin.data()));
  driver::call("cuModuleGetFunction", &add, module, "add");
  driver::call("cuStreamCreate", &stream, 1u);
  driver::Pointer memory = driver::allocate(3 * 64), a = memory + 64, b = memory + 128;
  void* parameters[] = {&memory, &a, &b};
  void** none = nullptr;
  const auto launch = [&] { driver::call("cuLaunchKernel", add, 1u, 1u, 1u, 16u, 1u, 1u, 0u, stream, parameters, none); };
  std::printf("a launch: %.2f us\n", host_us(launch));
  for (const int kernels : {1, 64}) {
    Graph graph = nullptr;
    Executable ready = nullptr;
    driver::call("cuStreamBeginCapture_v2", stream, 1);
    for (int i = 0; i < kernels; i++) launch();
    driver::call("cuStreamEndCapture", stream, &graph);
    driver::call("cuGraphInstantiateWithFlags", &ready, graph, 0ull);
    std::printf("a graph of %d: %.2f us\n", kernels, host_us([&] { driver::call("cuGraphLaunch", ready, stream); }));
  }
}
