// The transforms for NEON. Elsewhere, which tests do, they run on vectors of any machine.
#include "executors/convolution/transforms_body.h"
#include "executors/cpu/isa_neon.h"

namespace thunder {
namespace {

constexpr Transforms kTransforms = TransformsBody<Isa>::kTransforms;

}  // namespace

const Transforms& neon_transforms() { return kTransforms; }

}  // namespace thunder
