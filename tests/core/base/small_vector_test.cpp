#include "base/small_vector.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace thunder {
namespace {

using Small = SmallVector<int64_t, 3>;

Small counting(size_t n) {
  Small v;
  for (size_t i = 0; i < n; i++) v.push_back(static_cast<int64_t>(i));
  return v;
}
std::vector<int64_t> items(const Small& v) { return {v.begin(), v.end()}; }

TEST(SmallVector, keeps_items_when_it_outgrows_itself) {
  for (size_t n : {0, 1, 3, 4, 7, 100}) {
    std::vector<int64_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(items(counting(n)), expected);
  }
}

TEST(SmallVector, copies_are_independent) {
  for (size_t n : {2, 5}) {
    Small a = counting(n), b = a;
    b[0] = 77;
    EXPECT_EQ(a[0], 0);
    a = b;
    EXPECT_EQ(a, b);
    const Small& self = a;
    a = self;
    EXPECT_EQ(a, b);
  }
}

TEST(SmallVector, moves_leave_an_empty_one_that_can_be_used) {
  for (size_t n : {2, 5}) {
    Small a = counting(n), b = std::move(a);
    EXPECT_EQ(b, counting(n));
    EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move)
    for (int64_t i = 0; i < 4; i++) a.push_back(i);
    EXPECT_EQ(a, counting(4));
    b = std::move(a);
    EXPECT_EQ(b, counting(4));
  }
}

TEST(SmallVector, inserts_and_erases_anywhere) {
  Small v = counting(3);
  v.insert(0, 9);
  v.insert(2, 8);
  v.insert(5, 7);
  EXPECT_EQ(items(v), (std::vector<int64_t>{9, 0, 8, 1, 2, 7}));
  v.erase(5);
  v.erase(0);
  v.erase(1);
  EXPECT_EQ(items(v), (std::vector<int64_t>{0, 1, 2}));
}

TEST(SmallVector, resizes_with_one_of_its_own_items) {
  Small v = {5, 6, 7};
  v.resize(40, v[1]);
  EXPECT_EQ(v[39], 6);
  v.resize(2);
  EXPECT_EQ(items(v), (std::vector<int64_t>{5, 6}));
}

TEST(SmallVector, compares_by_content) {
  EXPECT_EQ((Small{1, 2}), (Small{1, 2}));
  EXPECT_FALSE((Small{1, 2} == Small{1, 2, 3}));
  EXPECT_FALSE((Small{1, 2} == Small{1, 3}));
}

}  // namespace
}  // namespace thunder
