// The largest pixels with AVX-512; enable.cmake gives this file the flags.
#include "executors/cpu/isa_avx512.h"
#include "executors/pooling/maxima_body.h"

namespace thunder {
namespace {

constexpr Maxima kMaxima = MaximaBody<Isa>::kMaxima;

}  // namespace

const Maxima& avx512_maxima() { return kMaxima; }

}  // namespace thunder
