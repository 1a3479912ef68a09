// The bytes of elements in array files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace thunder {

// The other byte order, in place. Requires: whole items of a size from 1 to 8.
void swap_bytes(std::span<std::byte> bytes, size_t item);

// The first byte that is neither 0 nor 1. Kernels read a bool as such; any other value is undefined behaviour.
std::optional<size_t> find_bad_bool(std::span<const std::byte> bools);

}  // namespace thunder
