#include "base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

namespace thunder {
namespace {

TEST(Arena, aligns_every_allocation_by_address) {
  Arena arena;
  for (size_t align = 1; align <= 4096; align *= 2)
    for (size_t bytes : {1, 3, 8, 100}) {
      void* p = arena.allocate(bytes, align);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0u) << align;
      std::memset(p, 0xab, bytes);
    }
}

TEST(Arena, keeps_what_it_gave_when_it_grows) {
  Arena arena;
  int* first = arena.make<int>(42);
  for (int i = 0; i < 100; i++) std::memset(arena.allocate(10000, 8), i, 10000);
  EXPECT_EQ(*first, 42);
}

TEST(Arena, serves_more_than_a_block_at_once) {
  Arena arena;
  constexpr size_t kLarge = 1 << 20, kSmall = 16;
  auto* large = static_cast<char*>(arena.allocate(kLarge, 64));
  std::memset(large, 1, kLarge);
  auto* small = static_cast<char*>(arena.allocate(kSmall, 16));
  std::memset(small, 2, kSmall);
  EXPECT_EQ(static_cast<size_t>(std::count(large, large + kLarge, 1)), kLarge);
  EXPECT_EQ(static_cast<size_t>(std::count(small, small + kSmall, 2)), kSmall);
}

TEST(Arena, stays_as_it_is_when_it_cannot_grow) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers end the process where new has no memory";
#endif
  Arena arena;
  const auto* first = static_cast<std::byte*>(arena.allocate(16, 16));
  EXPECT_THROW(arena.allocate(SIZE_MAX / 4, 8), std::bad_alloc);
  // More than the block has: it must not lie behind the first one, which is where the block goes on.
  auto* next = static_cast<std::byte*>(arena.allocate(1 << 20, 16));
  ASSERT_NE(next, first + 16);
  std::memset(next, 1, 1 << 20);
}

TEST(Arena, is_as_new_after_clear) {
  Arena arena;
  arena.clear();
  for (int i = 0; i < 3; i++) {
    auto* large = static_cast<char*>(arena.allocate(1 << 20, 64));
    std::memset(large, i, 1 << 20);
    auto* small = static_cast<char*>(arena.allocate(100, 8));
    std::memset(small, i + 10, 100);
    EXPECT_EQ(std::count(large, large + (1 << 20), i), 1 << 20);
    EXPECT_EQ(std::count(small, small + 100, i + 10), 100);
    arena.clear();
  }
}

TEST(Arena, copies_text_with_a_zero_and_lists_without) {
  Arena arena;
  EXPECT_STREQ(arena.copy(std::string_view("abc").substr(0, 2)), "ab");
  EXPECT_STREQ(arena.copy(std::string_view()), "");
  const int list[] = {1, 2, 3};
  auto copy = arena.copy(std::span<const int>(list));
  EXPECT_NE(copy.data(), list);
  EXPECT_EQ(copy[2], 3);
  EXPECT_TRUE(arena.copy(std::span<const int>()).empty());
}

}  // namespace
}  // namespace thunder
