// The kernels for NEON. On other machines, where tests run them, the compiler uses the vectors that are there.
#include "executors/cpu/isa/neon.h"

#include "executors/cpu/isa/kernels_body.h"

namespace thunder {

const IsaKernels& neon_kernels() { return kIsaKernels<Isa>; }

}  // namespace thunder
