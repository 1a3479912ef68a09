#include "executors/cpu/kernel.h"

namespace thunder {

const Kernels* kernels_for(Instructions i) {
  return i == Instructions::avx512 ? &avx512_kernels() : i == Instructions::avx2 ? &avx2_kernels() : nullptr;
}

}  // namespace thunder
