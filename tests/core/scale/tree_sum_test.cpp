// Sums of ranks in threads of this process.
#include "scale/tree_sum.h"

#include <gtest/gtest.h>

#include <random>

#include "support/thread_engine.h"

namespace thunder::scale {
namespace {

using test::on_ranks;
using test::thread_world;
using test::ThreadHub;

std::vector<float> drawn(int64_t rank, int64_t n) {
  std::mt19937 numbers(static_cast<unsigned>(rank + 1));
  std::uniform_real_distribution<float> of(-1e3f, 1e3f);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& x : out) x = of(numbers);
  return out;
}

// By pairs of neighbours, then pairs of pairs.
float tree(std::vector<float> x) {
  while (x.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i < x.size(); i += 2) next.push_back(i + 1 < x.size() ? x[i] + x[i + 1] : x[i]);
    x = next;
  }
  return x[0];
}

std::vector<float> wanted(int64_t ranks, int64_t n) {
  std::vector<std::vector<float>> rows;
  for (int64_t r = 0; r < ranks; r++) rows.push_back(drawn(r, n));
  std::vector<float> out;
  for (size_t i = 0; i < static_cast<size_t>(n); i++) {
    std::vector<float> column;
    for (auto& row : rows) column.push_back(row[i]);
    out.push_back(tree(column));
  }
  return out;
}

void run(World& world, Collective what, std::vector<float>& in, std::vector<float>& out) {
  const int64_t stride = 1, size = static_cast<int64_t>(in.size()), part = static_cast<int64_t>(out.size());
  const Buffer from{in.data(), &size, &stride, 1, DType::f32}, to{out.data(), &part, &stride, 1, DType::f32};
  if (Status* failed = world.run({what, "world", world.size("world"), RankReduction::sum, 0, from, to}))
    throw Error(Ref<Status>::adopt(failed));
}

// Few elements, odd ones, and more than one block of those that are added at a time.
TEST(TreeSum, adds_pairs_of_neighbours_whatever_the_engine_would_do) {
  for (const int64_t ranks : {2, 3, 4, 5})
    for (const int64_t n : {1, 7, 3001, 30011}) {
      ThreadHub hub;
      hub.sums_by_tree = true;
      const std::vector<float> sums = wanted(ranks, n * ranks);
      const auto failures = on_ranks(ranks, [&](int64_t rank) {
        const auto world = thread_world(hub, rank, ranks);
        std::vector<float> x = drawn(rank, n * ranks), all(x.size()), part(static_cast<size_t>(n));
        run(*world, Collective::all_reduce, x, all);
        EXPECT_EQ(all, sums) << ranks << " ranks, " << n;
        run(*world, Collective::reduce_scatter, x, part);
        EXPECT_EQ(part, std::vector<float>(sums.begin() + rank * n, sums.begin() + (rank + 1) * n));
      });
      EXPECT_EQ(failures, std::vector<std::string>(static_cast<size_t>(ranks)));
    }
}

// 30,011 elements are no multiple of the ranks.
TEST(TreeSum, of_elements_that_ranks_do_not_divide_is_whole) {
  ThreadHub hub;
  hub.sums_by_tree = true;
  const auto failures = on_ranks(4, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 4);
    std::vector<float> x = drawn(rank, 30011), all(x.size());
    run(*world, Collective::all_reduce, x, all);
    EXPECT_EQ(all, wanted(4, 30011));
  });
  EXPECT_EQ(failures, std::vector<std::string>(4));
}

}  // namespace
}  // namespace thunder::scale
