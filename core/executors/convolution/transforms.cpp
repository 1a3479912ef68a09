#include "executors/convolution/transforms.h"

#include "executors/cpu/choose.h"

namespace thunder {

const Transforms* transforms_for(Instructions i) { return choose(i, neon_transforms, avx2_transforms, avx512_transforms); }

}  // namespace thunder
