// Every op on a device: its samples, eager and compiled, against the same on the CPU, which its oracle has checked.
#include <cmath>

#include "cuda/cuda.h"

namespace thunder::battery {
namespace {

struct CudaBattery : Battery {
  Tensors there(const Tensors& tensors) {
    Tensors out;
    for (const Ref<Tensor>& t : tensors) out.push_back(moved(t, context->devices(), test::kGpu));
    return out;
  }
  // Results are compared by value; their devices are the inputs'.
  static Outcome without_device(Outcome o) {
    for (TensorType& t : o.types) t.device = Device::cpu;
    return o;
  }
  // The signs of singular vectors and eigenvectors are a library's choice.
  static Outcome up_to_signs(const Case& c, Outcome o) {
    const std::string_view op = c.op->name();
    if (op == "svd" || op == "linalg_svd" || op == "linalg_eigh")
      for (std::vector<double>& values : o.values)
        for (double& v : values) v = std::abs(v);
    return o;
  }
};

TEST_F(CudaBattery, eager_calls_agree_with_those_on_the_cpu) {
  each_case("on the device", [&](const Case& c) {
    const Tensors tensors = make_tensors(c);
    if (tensors.empty()) return false;
    const Outcome cpu = run_eager(*context, c, make_tensors(c)), gpu = run_eager(*context, c, there(tensors));
    EXPECT_EQ(difference(up_to_signs(c, without_device(gpu)), up_to_signs(c, cpu)), "") << c.name;
    for (const TensorType& t : gpu.types) EXPECT_TRUE(t.device == test::kGpu || c.op->name() == "prims.to_device") << c.name;
    return true;
  });
}

TEST_F(CudaBattery, compiled_calls_agree_with_those_on_the_cpu) {
  each_case("compiled for the device", [&](const Case& c) {
    const Tensors tensors = make_tensors(c);
    if (tensors.empty()) return false;
    const Outcome cpu = run_eager(*context, c, make_tensors(c));
    const Outcome gpu = run_compiled(*context, c, there(tensors), cpu.types.size());
    EXPECT_EQ(disagreement(c, up_to_signs(c, without_device(gpu)), up_to_signs(c, cpu)), "") << c.name;
    return true;
  });
}

}  // namespace
}  // namespace thunder::battery
