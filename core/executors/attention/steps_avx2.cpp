// The steps with AVX2; enable.cmake gives this file the flags.
#include "executors/attention/steps_body.h"
#include "executors/cpu/isa_avx2.h"

namespace thunder {
namespace {

constexpr Steps kSteps = StepsBody<Isa>::kSteps;

}  // namespace

const Steps& avx2_steps() { return kSteps; }

}  // namespace thunder
