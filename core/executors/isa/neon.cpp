// The kernels for NEON. Elsewhere, which tests do, they run on vectors of any machine.
#include "executors/isa/neon.h"

#include "executors/isa/kernels_body.h"

namespace thunder {
namespace {

constexpr IsaKernels kKernels = kernels_of<Isa>("neon");

}  // namespace

const IsaKernels& neon_kernels() { return kKernels; }

}  // namespace thunder
