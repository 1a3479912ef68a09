// The kernels with AVX-512; enable.cmake gives this file the flags.
#include "executors/cpu/isa/avx512.h"

#include "executors/cpu/isa/kernels_body.h"

namespace thunder {

const IsaKernels& avx512_kernels() { return kIsaKernels<Isa>; }

}  // namespace thunder
