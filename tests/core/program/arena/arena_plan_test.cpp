// Where values lie in an arena: no two at one place at one time, and how much memory that takes.
#include "program/arena/arena_plan.h"

#include <algorithm>
#include <random>

#include "core/program/arena/support.h"

namespace thunder {
namespace {

TEST(ArenaPlan, gives_values_of_different_times_the_same_bytes) {
  Requests requests = {{64, 0, 1}, {128, 1, 2}, {64, 2, 3}};
  EXPECT_EQ(max_bytes_in_use(requests), 192u);
  EXPECT_EQ(place_in_order(requests), 192u);
  EXPECT_EQ(requests[0].offset, requests[2].offset);
}

// The first two leave a gap between them which neither of those after them fits into.
TEST(ArenaPlan, places_large_values_first_where_that_takes_less) {
  const Requests requests = {{64, 0, 0}, {64, 0, 9}, {128, 1, 9}, {64, 2, 2}, {128, 3, 9}};
  Requests ordered = requests, tight = requests;
  EXPECT_EQ(max_bytes_in_use(requests), 320u);
  EXPECT_EQ(place_in_order(ordered), 384u);
  EXPECT_EQ(place_tightly(tight), 320u);
  expect_apart(tight, 320);
}

TEST(ArenaPlan, keeps_values_apart_and_never_needs_more_than_in_order) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; round++) {
    Requests requests;
    for (size_t i = 0; i < 120; i++)
      requests.push_back({64 * static_cast<int64_t>(1 + random() % 40), i / 2, i / 2 + random() % 30});
    Requests ordered = requests, tight = requests;
    const size_t in_order = place_in_order(ordered), least = place_tightly(tight);
    EXPECT_LE(least, in_order);
    EXPECT_GE(least, max_bytes_in_use(requests));
    expect_apart(ordered, in_order);
    expect_apart(tight, least);
  }
}

TEST(ArenaPlan, of_nothing_takes_nothing) {
  Requests none;
  EXPECT_EQ(place_tightly(none), 0u);
}

}  // namespace
}  // namespace thunder
