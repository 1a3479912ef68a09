// The transforms with AVX2; enable.cmake gives this file the flags.
#include "executors/convolution/transforms_body.h"
#include "executors/cpu/isa_avx2.h"

namespace thunder {
namespace {

constexpr Transforms kTransforms = TransformsBody<Isa>::kTransforms;

}  // namespace

const Transforms& avx2_transforms() { return kTransforms; }

}  // namespace thunder
