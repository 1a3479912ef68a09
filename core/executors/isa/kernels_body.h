// The table of an instruction set. Isa: its vectors, as ../cpu/vectors.h needs them.
#pragma once

#include "executors/attention/steps_body.h"
#include "executors/convolution/transforms_body.h"
#include "executors/cpu/kernel_body.h"
#include "executors/isa/kernels.h"
#include "executors/pooling/maxima_body.h"

namespace thunder {

template <class Isa>
constexpr IsaKernels kernels_of(const char* name) {
  return {name, KernelBody<Isa>::kKernels, StepsBody<Isa>::kSteps, TransformsBody<Isa>::kTransforms, MaximaBody<Isa>::kMaxima};
}

}  // namespace thunder
