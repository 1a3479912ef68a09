// The kernels with AVX-512; enable.cmake gives this file the flags.
#include "executors/isa/avx512.h"

#include "executors/isa/kernels_body.h"

namespace thunder {
namespace {

constexpr IsaKernels kKernels = kernels_of<Isa>("avx512");

}  // namespace

const IsaKernels& avx512_kernels() { return kKernels; }

}  // namespace thunder
