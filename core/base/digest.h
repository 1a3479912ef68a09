// A digest for data that outlives the process: BLAKE2b of 256 bits (RFC 7693). Collisions cannot be found in practice.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace thunder {

using Digest = std::array<std::byte, 32>;

// The digest of the concatenated parts; their boundaries do not matter.
Digest digest(std::initializer_list<std::string_view> parts);

// 64 lower-case hexadecimal digits.
std::string hex(const Digest& digest);

}  // namespace thunder
