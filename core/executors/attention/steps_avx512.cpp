// The steps with AVX-512; enable.cmake gives this file the flags.
#include "executors/attention/steps_body.h"
#include "executors/cpu/isa_avx512.h"

namespace thunder {
namespace {

constexpr Steps kSteps = StepsBody<Isa>::kSteps;

}  // namespace

const Steps& avx512_steps() { return kSteps; }

}  // namespace thunder
