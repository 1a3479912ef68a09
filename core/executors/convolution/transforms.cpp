#include "executors/convolution/transforms.h"

namespace thunder {

const Transforms* transforms_for(Instructions i) {
  switch (i) {
    case Instructions::avx512: return &avx512_transforms();
    case Instructions::avx2: return &avx2_transforms();
    case Instructions::neon: return &neon_transforms();
    default: return nullptr;
  }
}

}  // namespace thunder
