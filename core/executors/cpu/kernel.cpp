#include "executors/cpu/kernel.h"

#include "executors/cpu/choose.h"

namespace thunder {

const Kernels* kernels_for(Instructions i) { return choose(i, neon_kernels, avx2_kernels, avx512_kernels); }

}  // namespace thunder
