// A fast hash for keys that live and die in one process; nothing on disk depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace thunder {

inline uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 u128;
  u128 product = static_cast<u128>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd1b54a32d192ed03ull);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(const void* data, size_t bytes, uint64_t seed = 0) {
  const char* p = static_cast<const char*>(data);
  uint64_t h = mix(seed, bytes);
  for (; bytes >= 8; p += 8, bytes -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = mix(h, word);
  }
  uint64_t tail = 0;
  if (bytes) std::memcpy(&tail, p, bytes);
  return mix(h, tail);
}

inline uint64_t hash_text(std::string_view text) { return hash_bytes(text.data(), text.size()); }

// Lets unordered containers look up a string_view without making a string.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return hash_text(text); }
};

}  // namespace thunder
