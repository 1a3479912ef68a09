#include "executors/cpu/isa/kernels.h"

namespace thunder {

const IsaKernels* kernels_for(Instructions i) {
  switch (i) {
    case Instructions::avx512: return &avx512_kernels();
    case Instructions::avx2: return &avx2_kernels();
    case Instructions::neon: return &neon_kernels();
    default: return nullptr;
  }
}

}  // namespace thunder
