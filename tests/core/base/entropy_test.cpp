#include "base/entropy.h"

#include <gtest/gtest.h>

#include <set>

namespace thunder {
namespace {

TEST(Entropy, differs_at_each_call_and_moves_all_bits) {
  std::set<uint64_t> seen;
  uint64_t ones = 0, zeros = 0;
  for (int i = 0; i < 1000; i++) {
    const uint64_t n = entropy();
    seen.insert(n), ones |= n, zeros |= ~n;
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(ones, ~uint64_t{0});
  EXPECT_EQ(zeros, ~uint64_t{0});
}

}  // namespace
}  // namespace thunder
