// Numbers that are the same each time.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace thunder::test {

inline std::vector<float> noise(int64_t n, uint32_t seed, float low = -1, float high = 1) {
  std::mt19937 random(seed);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& v : out) v = std::uniform_real_distribution<float>(low, high)(random);
  return out;
}

}  // namespace thunder::test
