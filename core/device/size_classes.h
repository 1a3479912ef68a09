// Sizes of blocks that are kept for the next one of their class: by default eight between two powers of two, so that at
// most an eighth of a block is unused.
#pragma once

#include <bit>
#include <cstddef>

namespace thunder {

constexpr int kSizeSteps = 3;  // the logarithm of eight
// The largest block that is kept: a size that is rounded up must not overflow.
constexpr size_t kLargestKept = size_t{1} << 40;

// Requires: bytes > 1 << steps.
inline size_t size_class(size_t bytes, int steps = kSizeSteps) {
  const int shift = std::bit_width(bytes - 1) - 1 - steps;
  return (static_cast<size_t>(shift) << steps) + ((bytes - 1) >> shift) + 1;
}
inline size_t class_bytes(size_t size_class, int steps = kSizeSteps) {
  const size_t shift = (size_class - 1) / (size_t{1} << steps) - 1;
  return (size_class - (shift << steps)) << shift;
}

}  // namespace thunder
