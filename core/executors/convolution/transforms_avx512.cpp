// The transforms with AVX-512; enable.cmake gives this file the flags.
#include "executors/convolution/transforms_body.h"
#include "executors/cpu/isa_avx512.h"

namespace thunder {
namespace {

constexpr Transforms kTransforms = TransformsBody<Isa>::kTransforms;

}  // namespace

const Transforms& avx512_transforms() { return kTransforms; }

}  // namespace thunder
