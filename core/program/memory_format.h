// The order of a tensor's dims in memory, by PyTorch's names.
#pragma once

#include "ir/shape.h"

namespace thunder {

// Of tensors of four dims [N, C, H, W]. channels_last: they lie as [N, H, W, C]; preserve: as the operands do.
enum class MemoryFormat : uint8_t { contiguous, channels_last, preserve };

// `sizes`: Sizes or a Shape.
template <class All>
All channels_last_strides(const All& sizes) {
  All out = sizes;
  auto stride = sizes[1];
  stride = 1;
  for (size_t d : {1, 3, 2, 0}) out[d] = stride, stride = stride * sizes[d];
  return out;
}

}  // namespace thunder
