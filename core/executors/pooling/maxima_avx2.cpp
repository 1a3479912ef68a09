// The largest pixels with AVX2; enable.cmake gives this file the flags.
#include "executors/cpu/isa_avx2.h"
#include "executors/pooling/maxima_body.h"

namespace thunder {
namespace {

constexpr Maxima kMaxima = MaximaBody<Isa>::kMaxima;

}  // namespace

const Maxima& avx2_maxima() { return kMaxima; }

}  // namespace thunder
