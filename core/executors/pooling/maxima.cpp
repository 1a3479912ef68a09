#include "executors/pooling/maxima.h"

namespace thunder {

const Maxima* maxima_for(Instructions i) {
  switch (i) {
    case Instructions::avx512: return &avx512_maxima();
    case Instructions::avx2: return &avx2_maxima();
    case Instructions::neon: return &neon_maxima();
    default: return nullptr;
  }
}

}  // namespace thunder
