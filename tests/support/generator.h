// What tests with generated inputs share: how many, from which seed, and values near the edges of 64 bits.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>

namespace thunder::tests {

// The number in an environment variable, or `otherwise`.
inline uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Runs body(generator) for each of `tries` seeds from `first` on: THUNDER_TRIES and THUNDER_SEED say others. A failure
// names its seed, which THUNDER_SEED with THUNDER_TRIES=1 takes back.
template <class Body>
void for_each_seed(uint64_t tries, Body&& body, uint64_t first = 1) {
  first = number_from("THUNDER_SEED", first);
  tries = number_from("THUNDER_TRIES", tries);
  for (uint64_t seed = first; seed < first + tries && !testing::Test::HasFailure(); seed++) {
    SCOPED_TRACE("THUNDER_SEED=" + std::to_string(seed) + " THUNDER_TRIES=1");
    // A crash leaves no trace: with this variable each seed is announced before it runs.
    if (std::getenv("THUNDER_SHOW_SEEDS")) std::fprintf(stderr, "THUNDER_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 generator(seed);
    body(generator);
  }
}

inline size_t below(std::mt19937_64& g, size_t n) { return static_cast<size_t>(g() % n); }
inline bool one_in(std::mt19937_64& g, size_t n) { return below(g, n) == 0; }

// Mostly small, now and then one from the edges.
inline int64_t hostile_integer(std::mt19937_64& g) {
  constexpr int64_t two62 = int64_t{1} << 62;
  constexpr int64_t edges[] = {-1,       -2,        INT64_MAX, INT64_MIN,     INT64_MAX - 1,    INT64_MIN + 1,
                               two62,    -two62,    two62 - 1, int64_t{1} << 31, int64_t{1} << 32, -(int64_t{1} << 32),
                               INT32_MAX, INT32_MIN, 4611686018427387905, 3037000500};
  if (one_in(g, 4)) return edges[below(g, std::size(edges))];
  return static_cast<int64_t>(below(g, 6));
}

}  // namespace thunder::tests
