// The kernels with AVX-512; enable.cmake gives this file the flags.
#include "executors/cpu/isa_avx512.h"
#include "executors/cpu/kernel_body.h"

namespace thunder {
namespace {

constexpr Kernels kKernels = KernelBody<Isa>::kernels("avx512");

}  // namespace

const Kernels& avx512_kernels() { return kKernels; }

}  // namespace thunder
