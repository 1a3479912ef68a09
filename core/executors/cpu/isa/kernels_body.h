// The table of an instruction set. Isa: its name, kRows, and its vectors as ../vectors.h needs them.
#pragma once

#include "executors/cpu/attention/softmax_body.h"
#include "executors/cpu/convolution/winograd_body.h"
#include "executors/cpu/product_kernels_body.h"
#include "executors/cpu/isa/kernels.h"
#include "executors/cpu/pooling/max_pool_body.h"

namespace thunder {

template <class Isa>
constexpr IsaKernels kIsaKernels{Isa::kName, ProductKernelsBody<Isa>::kKernels, SoftmaxBody<Isa>::kKernels,
                                 WinogradBody<Isa>::kKernels, MaxPoolBody<Isa>::kKernels};

}  // namespace thunder
