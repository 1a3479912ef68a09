// The kernels for NEON. Elsewhere, which tests do, they run on vectors of any machine.
#include "executors/cpu/isa_neon.h"
#include "executors/cpu/kernel_body.h"

namespace thunder {
namespace {

constexpr Kernels kKernels = KernelBody<Isa>::kernels("neon");

}  // namespace

const Kernels& neon_kernels() { return kKernels; }

}  // namespace thunder
