// Requests placed for other sizes in the order in which they lay: never two in one place, in about as much memory.
#include "program/arena/arena_order.h"

#include <random>

#include "core/program/arena/support.h"

namespace thunder {
namespace {

// Bytes that grow with a size, as those of a layer's values, beside some that do not.
Requests requests_for(int64_t size, uint32_t seed) {
  std::mt19937 random(seed);
  Requests out;
  for (size_t i = 0; i < 200; i++) {
    const int64_t of_size = random() % 4 == 0 ? 0 : 64 * static_cast<int64_t>(1 + random() % 12);
    out.push_back({of_size * size + 64 * static_cast<int64_t>(1 + random() % 30), i / 2, i / 2 + random() % 30});
  }
  return out;
}

TEST(ArenaOrder, places_the_same_requests_as_they_were) {
  Requests first = requests_for(24, 1);
  const size_t bytes = place_in_order(first);
  Requests again = requests_for(24, 1);
  EXPECT_EQ(ArenaOrder(first).place(again), bytes);
  expect_apart(again, bytes);
}

TEST(ArenaOrder, keeps_requests_of_other_sizes_apart_in_about_as_much_memory) {
  size_t placed = 0;
  for (uint32_t seed = 0; seed < 40; seed++) {
    Requests first = requests_for(24, seed);
    place_in_order(first);
    const ArenaOrder order(first);
    for (const int64_t size : {20, 25, 40, 64, 100, 1000}) {
      Requests other = requests_for(size, seed), in_order = other;
      const std::optional<size_t> bytes = order.place(other);
      if (!bytes) continue;
      placed++;
      expect_apart(other, *bytes);
      EXPECT_LE(static_cast<double>(*bytes), 1.5 * static_cast<double>(place_in_order(in_order)));
    }
  }
  EXPECT_GT(placed, 120u);
}

// The third lies on the second because the place of the first is too small for it; then that is large, too.
TEST(ArenaOrder, leaves_requests_to_others_where_it_would_waste_memory) {
  Requests first = {{64, 0, 0}, {64, 0, 1}, {6400, 1, 1}};
  place_in_order(first);
  const ArenaOrder order(first);
  Requests same = first;
  EXPECT_TRUE(order.place(same));
  Requests other = {{6400, 0, 0}, {64, 0, 1}, {6400, 1, 1}};
  EXPECT_FALSE(order.place(other));
}

TEST(ArenaOrder, of_nothing_takes_nothing) {
  Requests none;
  EXPECT_EQ(ArenaOrder(none).place(none), 0u);
}

}  // namespace
}  // namespace thunder
