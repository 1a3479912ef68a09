// Sizes of blocks that are kept for the next one of their class: eight between two powers of two, so that at most an
// eighth of a block is unused.
#pragma once

#include <bit>
#include <cstddef>

namespace thunder {

constexpr int kSizeSteps = 3;
// The largest block that is kept at all: what is rounded up must stay a size.
constexpr size_t kLargestKept = size_t{1} << 40;

// Requires: bytes > 1 << kSizeSteps.
inline size_t size_class(size_t bytes) {
  const int shift = std::bit_width(bytes - 1) - 1 - kSizeSteps;
  return (static_cast<size_t>(shift) << kSizeSteps) + ((bytes - 1) >> shift) + 1;
}
inline size_t class_bytes(size_t size_class) {
  const size_t shift = (size_class - 1) / (1 << kSizeSteps) - 1;
  return (size_class - (shift << kSizeSteps)) << shift;
}

}  // namespace thunder
