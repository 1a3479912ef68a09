#include "passes/min_cut.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace thunder {
namespace {

int64_t cost(const std::vector<bool>& side, const std::vector<std::array<int64_t, 3>>& edges) {
  int64_t out = 0;
  for (auto [from, to, capacity] : edges)
    if (!side[static_cast<size_t>(from)] && side[static_cast<size_t>(to)]) out += capacity;
  return out;
}

std::vector<bool> sink_side(size_t vertices, const std::vector<std::array<int64_t, 3>>& edges) {
  MinCut cut(vertices);
  for (auto [from, to, capacity] : edges) cut.edge(static_cast<size_t>(from), static_cast<size_t>(to), capacity);
  return cut.sink_side(0, vertices - 1);
}

TEST(MinCut, takes_the_cheapest_edges) {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3
  const auto side = sink_side(4, {{0, 1, 5}, {1, 3, 2}, {0, 2, 1}, {2, 3, 4}});
  EXPECT_EQ(side, (std::vector<bool>{false, false, true, true}));
}

TEST(MinCut, of_equal_ones_takes_that_closest_to_the_sink) {
  EXPECT_EQ(sink_side(4, {{0, 1, 3}, {1, 2, 3}, {2, 3, 3}}), (std::vector<bool>{false, false, false, true}));
}

TEST(MinCut, sends_flow_back_where_the_first_path_was_wrong) {
  // The shortest path 0-1-4-5 must give way for 0-1-2-5 and 0-3-4-5 to be filled.
  const std::vector<std::array<int64_t, 3>> edges = {{0, 1, 1}, {0, 3, 1}, {1, 4, 1}, {1, 2, 1},
                                                     {3, 4, 1}, {2, 5, 1}, {4, 5, 1}};
  EXPECT_EQ(cost(sink_side(6, edges), edges), 2);
}

TEST(MinCut, is_no_dearer_than_any_other_cut_of_random_graphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; round++) {
    const size_t vertices = 2 + random() % 7;
    std::vector<std::array<int64_t, 3>> edges;
    for (size_t i = 0; i < 2 * vertices; i++)
      edges.push_back({static_cast<int64_t>(random() % vertices), static_cast<int64_t>(random() % vertices),
                       static_cast<int64_t>(random() % 9)});
    const auto side = sink_side(vertices, edges);
    ASSERT_FALSE(side[0]);
    ASSERT_TRUE(side[vertices - 1]);
    for (size_t sides = 0; sides < size_t{1} << vertices; sides++) {
      std::vector<bool> other;
      for (size_t v = 0; v < vertices; v++) other.push_back(sides >> v & 1);
      if (other[0] || !other[vertices - 1]) continue;
      ASSERT_LE(cost(side, edges), cost(other, edges)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace thunder
