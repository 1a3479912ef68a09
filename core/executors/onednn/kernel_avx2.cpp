// The kernels with AVX2; enable.cmake gives this file the flags.
#include "executors/onednn/kernel_body.h"

namespace thunder {
namespace {

struct Isa {
  static constexpr int64_t kLanes = 8, kRows = 6, kDots = 4;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
};

constexpr Kernels kKernels{"avx2", KernelBody<Isa>::small, KernelBody<Isa>::thin};

}  // namespace

const Kernels& avx2_kernels() { return kKernels; }

}  // namespace thunder
