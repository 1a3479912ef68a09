// The kernels with AVX2; enable.cmake gives this file the flags.
#include "executors/isa/avx2.h"

#include "executors/isa/kernels_body.h"

namespace thunder {

const IsaKernels& avx2_kernels() { return kIsaKernels<Isa>; }

}  // namespace thunder
