// The steps for NEON. Elsewhere, which tests do, they run on vectors of any machine.
#include "executors/attention/steps_body.h"
#include "executors/cpu/isa_neon.h"

namespace thunder {
namespace {

constexpr Steps kSteps = StepsBody<Isa>::kSteps;

}  // namespace

const Steps& neon_steps() { return kSteps; }

}  // namespace thunder
