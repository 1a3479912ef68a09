// The transforms for NEON. Elsewhere, which tests do, they run on vectors of any machine.
#include "executors/cpu/isa_neon.h"
#include "executors/pooling/maxima_body.h"

namespace thunder {
namespace {

constexpr Maxima kMaxima = MaximaBody<Isa>::kMaxima;

}  // namespace

const Maxima& neon_maxima() { return kMaxima; }

}  // namespace thunder
