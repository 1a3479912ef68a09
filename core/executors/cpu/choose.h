// Of kernels that are compiled for each set of instructions, those that a processor runs.
#pragma once

#include "base/machine.h"

namespace thunder {

// Null: there are none.
template <class T>
const T* choose(Instructions i, const T& (*neon)(), const T& (*avx2)(), const T& (*avx512)()) {
  switch (i) {
    case Instructions::avx512: return &avx512();
    case Instructions::avx2: return &avx2();
    case Instructions::neon: return &neon();
    default: return nullptr;
  }
}

}  // namespace thunder
