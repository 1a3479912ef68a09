#include "executors/attention/steps.h"

namespace thunder {

const Steps* steps_for(Instructions i) {
  switch (i) {
    case Instructions::avx512: return &avx512_steps();
    case Instructions::avx2: return &avx2_steps();
    case Instructions::neon: return &neon_steps();
    default: return nullptr;
  }
}

}  // namespace thunder
