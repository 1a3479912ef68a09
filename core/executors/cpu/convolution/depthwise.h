// Convolutions whose groups are one channel each, forward and gradients.
#pragma once

#include <vector>

#include "executors/cpu/convolution/correlation.h"

namespace thunder {

inline bool is_depthwise(const Window& w) {
  return w.channels == 1 && w.outputs == 1;
}

// Like prepare_correlation. Requires: is_depthwise(window).
KernelPtr prepare_depthwise(const ConvolutionCode& code, const Window& window, const Planes& planes, int64_t band,
                            std::vector<Grid> grids, bool sparse);
// `grid`: of the forward, whose planes have the rows of all outputs. Requires: is_depthwise(window).
KernelPtr prepare_depthwise_weight_grad(const ConvolutionCode& code, const Window& window, const Planes& planes,
                                        const Grid& grid);

}  // namespace thunder
