// A watch sees the parts of its pool's loops, and no others. Covers base/thread_watch.
#include "base/thread_watch.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

Status* nothing(int64_t, int64_t, void*) { return nullptr; }

TEST(ThreadWatch, sees_each_part_of_a_loop_of_its_pool) {
  ThreadPool pool(2), other(2);
  ThreadWatch watch(pool);
  EXPECT_EQ(pool.parallel_for(100, 1, nothing, nullptr), nullptr);
  EXPECT_EQ(other.parallel_for(100, 1, nothing, nullptr), nullptr);
  const auto parts = watch.take();
  EXPECT_GE(parts.size(), 1u);
  EXPECT_LE(parts.size(), 2u);
  for (auto& part : parts) EXPECT_LE(part.begin, part.end);
  EXPECT_TRUE(watch.take().empty()) << "it gives each part once";
}

TEST(ThreadWatch, sees_nothing_before_it_began) {
  ThreadPool pool(2);
  pool.parallel_for(100, 1, nothing, nullptr);
  ThreadWatch watch(pool);
  EXPECT_TRUE(watch.take().empty());
}

}  // namespace
}  // namespace thunder
