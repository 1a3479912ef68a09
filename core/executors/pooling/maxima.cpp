#include "executors/pooling/maxima.h"

#include "executors/cpu/choose.h"

namespace thunder {

const Maxima* maxima_for(Instructions i) { return choose(i, neon_maxima, avx2_maxima, avx512_maxima); }

}  // namespace thunder
