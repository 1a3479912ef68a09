// The kernels with AVX-512; enable.cmake gives this file the flags.
#include "executors/onednn/kernel_body.h"

namespace thunder {
namespace {

struct Isa {
  static constexpr int64_t kLanes = 16, kRows = 12, kDots = 8;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
};

constexpr Kernels kKernels{"avx512", KernelBody<Isa>::small, KernelBody<Isa>::thin};

}  // namespace

const Kernels& avx512_kernels() { return kKernels; }

}  // namespace thunder
