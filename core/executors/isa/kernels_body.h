// The table of an instruction set. Isa: its vectors, as ../cpu/vectors.h needs them.
#pragma once

#include "executors/attention/softmax_body.h"
#include "executors/convolution/winograd_body.h"
#include "executors/cpu/product_kernels_body.h"
#include "executors/isa/kernels.h"
#include "executors/pooling/max_pool_body.h"

namespace thunder {

template <class Isa>
constexpr IsaKernels kernels_of(const char* name) {
  return {name, ProductKernelsBody<Isa>::kKernels, SoftmaxBody<Isa>::kSoftmaxKernels,
          WinogradBody<Isa>::kWinogradKernels, MaxPoolBody<Isa>::kMaxPoolKernels};
}

}  // namespace thunder
