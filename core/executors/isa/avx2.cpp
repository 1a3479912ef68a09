// The kernels with AVX2; enable.cmake gives this file the flags.
#include "executors/isa/avx2.h"

#include "executors/isa/kernels_body.h"

namespace thunder {
namespace {

constexpr IsaKernels kKernels = kernels_of<Isa>("avx2");

}  // namespace

const IsaKernels& avx2_kernels() { return kKernels; }

}  // namespace thunder
