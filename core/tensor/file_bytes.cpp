#include "tensor/file_bytes.h"

#include <algorithm>

namespace thunder {

void swap_bytes(std::span<std::byte> bytes, size_t item) {
  for (size_t at = 0; item > 1 && at < bytes.size(); at += item) {
    const auto one = bytes.subspan(at, item);
    std::reverse(one.begin(), one.end());
  }
}

std::optional<size_t> find_bad_bool(std::span<const std::byte> bools) {
  auto bad = std::find_if(bools.begin(), bools.end(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == bools.end()) return std::nullopt;
  return static_cast<size_t>(bad - bools.begin());
}

}  // namespace thunder
