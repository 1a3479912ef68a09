// What the doctor finds where there is a device.
#include "cuda/cuda.h"
#include "jit/reports/doctor.h"

namespace thunder::test {
namespace {

struct CudaDoctor : CudaTest {};

TEST_F(CudaDoctor, names_libraries_and_runs_a_kernel_on_the_device) {
  std::map<std::string, Finding> found;
  for (const Finding& f : examine(*context)) found[f.name] = f;
  for (const char* name : {"CUDA driver", "NVRTC", "cuBLASLt", "cuSOLVER", "cuda:0", "kernel on cuda:0"}) {
    ASSERT_TRUE(found.count(name)) << name;
    EXPECT_EQ(found[name].state, Finding::State::works) << name << ": " << found[name].text;
  }
  EXPECT_NE(found["kernel on cuda:0"].text.find("one fused kernel"), std::string::npos);
}

}  // namespace
}  // namespace thunder::test
