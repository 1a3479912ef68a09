#include "scale/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace thunder::scale {
namespace {

TEST(Scratch, what_was_let_go_of_is_lent_again_and_what_is_held_is_not) {
  auto a = scratch(1 << 20);
  const std::byte* const first = a.get();
  const auto b = scratch(1 << 20);
  EXPECT_NE(b.get(), first);
  a.reset();
  EXPECT_EQ(scratch((1 << 20) - 5).get(), first);
}

TEST(Scratch, of_another_size_is_other_memory) {
  auto a = scratch(4096);
  const std::byte* const first = a.get();
  a.reset();
  EXPECT_NE(scratch(100).get(), first);
  const auto larger = scratch(8192);
  larger[8191] = std::byte{1};  // it is there
}

TEST(Scratch, keeps_no_more_than_a_bound) {
  std::vector<std::shared_ptr<std::byte[]>> held;
  const size_t bytes = size_t{48} << 20;
  for (int i = 0; i < 6; i++) held.push_back(scratch(bytes));
  std::vector<const std::byte*> before;
  for (auto& one : held) before.push_back(one.get());
  held.clear();  // four of six stay
  int again = 0;
  for (int i = 0; i < 4; i++) held.push_back(scratch(bytes));
  for (auto& one : held) again += std::count(before.begin(), before.end(), one.get()) > 0;
  EXPECT_EQ(again, 4);
}

}  // namespace
}  // namespace thunder::scale
