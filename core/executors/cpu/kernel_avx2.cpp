// The kernels with AVX2; enable.cmake gives this file the flags.
#include "executors/cpu/isa_avx2.h"
#include "executors/cpu/kernel_body.h"

namespace thunder {
namespace {

constexpr Kernels kKernels = KernelBody<Isa>::kernels("avx2");

}  // namespace

const Kernels& avx2_kernels() { return kKernels; }

}  // namespace thunder
