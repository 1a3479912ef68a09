#include "executors/attention/steps.h"

#include "executors/cpu/choose.h"

namespace thunder {

const Steps* steps_for(Instructions i) { return choose(i, neon_steps, avx2_steps, avx512_steps); }

}  // namespace thunder
