// The kernels with AVX2; enable.cmake gives this file the flags.
#include "executors/cpu/isa/avx2.h"

#include "executors/cpu/isa/kernels_body.h"

namespace thunder {

const IsaKernels& avx2_kernels() { return kIsaKernels<Isa>; }

}  // namespace thunder
