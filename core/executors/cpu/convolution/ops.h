// Kernels of convolutions: the forward and its gradients.
#pragma once

#include "executors/cpu/convolution/window.h"
#include "executors/cpu/convolution/winograd_kernels.h"
#include "executors/cpu/product_kernels.h"
#include "executors/cpu/table_executor.h"
#include "executors/executor.h"

namespace thunder {

// Offsets in a padded image are 32 bits.
constexpr int64_t kMaxOffset = int64_t{1} << 30;

// The kernels for the processor at hand.
struct ConvolutionCode {
  const ProductKernels& kernels;
  const WinogradKernels& transforms;
  const Machine& machine;
};

// Null: offsets of 32 bits cannot address a padded image.
using PrepareConvolution = KernelPtr (*)(const ConvolutionCode& code, const NodeView& view);

KernelPtr prepare_convolution(const ConvolutionCode& code, const NodeView& view);
KernelPtr prepare_convolution_input_grad(const ConvolutionCode& code, const NodeView& view);
KernelPtr prepare_convolution_weight_grad(const ConvolutionCode& code, const NodeView& view);

// Whether Winograd convolution (winograd.cpp) applies, and channels and tiles are enough to amortize its transforms.
bool winograd_is_profitable(const Window& w);
// The same ops by Winograd's algorithm. Require that it can be used.
KernelPtr prepare_winograd(const ConvolutionCode& code, const Window& w);
KernelPtr prepare_winograd_input_grad(const ConvolutionCode& code, const Window& w);
KernelPtr prepare_winograd_weight_grad(const ConvolutionCode& code, const Window& w);

// The shape of argument i, and of the result.
inline const Shape& shape_in(const NodeView& v, size_t i) { return v.store.type(v.node.args[i].v).shape; }
inline const Shape& shape_out(const NodeView& v) { return v.store.type(v.node.results[0]).shape; }

}  // namespace thunder
