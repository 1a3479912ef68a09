// The kinds of convolution nodes.
#pragma once

#include <memory>

#include "executors/convolution/winograd_kernels.h"
#include "executors/cpu/product_kernels.h"
#include "executors/cpu/site.h"
#include "executors/executor.h"

namespace thunder {

// Offsets in a padded image are 32 bits.
constexpr int64_t kMostOffset = int64_t{1} << 30;

// The kernels for the processor at hand.
struct ConvolutionCode {
  const ProductKernels& kernels;
  const WinogradKernels& transforms;
  const Machine& machine;
};

// `scratch`: the bytes that each call needs. Null: offsets of 32 bits cannot address a padded image.
using MakeConvolution = std::unique_ptr<Site> (*)(const ConvolutionCode& code, const NodeView& view, size_t* scratch);

std::unique_ptr<Site> convolution_forward(const ConvolutionCode& code, const NodeView& view, size_t* scratch);
std::unique_ptr<Site> convolution_input_grad(const ConvolutionCode& code, const NodeView& view, size_t* scratch);
std::unique_ptr<Site> convolution_weight_grad(const ConvolutionCode& code, const NodeView& view, size_t* scratch);

// The shape of argument i, and of the result.
inline const Shape& shape_in(const NodeView& v, size_t i) { return v.store.type(v.node.args[i].v).shape; }
inline const Shape& shape_out(const NodeView& v) { return v.store.type(v.node.results[0]).shape; }

}  // namespace thunder
