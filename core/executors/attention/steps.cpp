#include "executors/attention/steps.h"

namespace thunder {

const Steps* steps_for(Instructions i) {
  return i == Instructions::avx512 ? &avx512_steps() : i == Instructions::avx2 ? &avx2_steps() : nullptr;
}

}  // namespace thunder
