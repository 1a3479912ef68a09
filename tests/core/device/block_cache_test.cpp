#include "device/block_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace thunder {
namespace {

// Blocks that the cache asked for and has not given back.
struct Under {
  int live = 0, calls = 0;
  bool refuse = false;
  Allocator allocator() {
    return {[](size_t bytes, size_t align, void* user) -> void* {
              auto* self = static_cast<Under*>(user);
              if (self->refuse) return nullptr;
              self->live++, self->calls++;
              return default_allocator().allocate(bytes, align, nullptr);
            },
            [](void* p, size_t bytes, size_t align, void* user) {
              static_cast<Under*>(user)->live--;
              default_allocator().deallocate(p, bytes, align, nullptr);
            },
            this, true};
  }
};

TEST(BlockCache, gives_a_released_block_to_the_next_of_its_size) {
  Under under;
  BlockCache* cache = BlockCache::open(under.allocator(), 1 << 20);
  auto first = Storage::allocate(cache->allocator(), 5000);
  const void* at = first->data();
  first = nullptr;
  EXPECT_GT(cache->statistics().kept, 5000u);
  auto second = Storage::allocate(cache->allocator(), 5000);
  EXPECT_EQ(second->data(), at);
  EXPECT_EQ(under.calls, 1);
  EXPECT_EQ(cache->statistics().hits, 1u);
  EXPECT_EQ(cache->statistics().misses, 1u);
  EXPECT_EQ(cache->statistics().kept, 0u);
  EXPECT_NE(Storage::allocate(cache->allocator(), 50000)->data(), nullptr);
  second = nullptr;
  cache->close();
  EXPECT_EQ(under.live, 0);
}

TEST(BlockCache, has_room_for_what_was_asked_in_every_class) {
  BlockCache* cache = BlockCache::open(default_allocator(), 1 << 30);
  const Allocator a = cache->allocator();
  for (size_t bytes = 1; bytes < 70000; bytes += 1 + bytes / 7) {
    auto *p = static_cast<char*>(a.allocate(bytes, kAlign, a.user)), *q = static_cast<char*>(a.allocate(bytes, kAlign, a.user));
    std::memset(p, 1, bytes), std::memset(q, 2, bytes);  // a sanitizer sees what is beyond
    EXPECT_EQ(static_cast<size_t>(std::count(p, p + bytes, 1)), bytes);
    EXPECT_EQ(static_cast<size_t>(std::count(q, q + bytes, 2)), bytes);
    for (void* each : {p, q}) a.deallocate(each, bytes, kAlign, a.user);
  }
  cache->close();
}

TEST(BlockCache, keeps_no_more_than_its_limit) {
  Under under;
  BlockCache* cache = BlockCache::open(under.allocator(), 10000);
  Storage::allocate(cache->allocator(), 4000);
  Storage::allocate(cache->allocator(), 8000);  // the other one makes way
  EXPECT_EQ(under.live, 1);
  EXPECT_LE(cache->statistics().kept, 10000u);
  Storage::allocate(cache->allocator(), 20000);
  EXPECT_EQ(under.live, 0) << "too large to be kept at all";
  Storage::allocate(cache->allocator(), 4000);
  cache->set_limit(0);
  EXPECT_EQ(under.live, 0);
  Storage::allocate(cache->allocator(), 4000);
  EXPECT_EQ(under.live, 0);
  cache->close();
}

TEST(BlockCache, may_be_closed_while_blocks_are_out) {
  Under under;
  BlockCache* cache = BlockCache::open(under.allocator(), 1 << 20);
  auto last = Storage::allocate(cache->allocator(), 4000);
  auto small = Storage::allocate(cache->allocator(), 8);
  cache->close();
  std::memset(last->data(), 7, 4000);
  last = nullptr;
  EXPECT_EQ(under.live, 0);
  std::memset(small->data(), 7, 8);
  small = nullptr;  // after the cache is gone
}

TEST(BlockCache, gives_up_what_it_keeps_before_it_fails) {
  Under under;
  BlockCache* cache = BlockCache::open(under.allocator(), 1 << 20);
  Storage::allocate(cache->allocator(), 4000);
  under.refuse = true;
  const Allocator a = cache->allocator();
  EXPECT_EQ(a.allocate(9000, kAlign, a.user), nullptr);
  EXPECT_EQ(under.live, 0);
  cache->close();
}

TEST(BlockCache, serves_several_threads) {
  BlockCache* cache = BlockCache::open(default_allocator(), 1 << 16);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([cache, t] {
      for (int i = 0; i < 500; i++) {
        const size_t bytes = static_cast<size_t>(1024 * (1 + (i + t) % 9));
        auto s = Storage::allocate(cache->allocator(), bytes);
        std::memset(s->data(), t, bytes);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(cache->statistics().used, 0u);
  cache->close();
}

}  // namespace
}  // namespace thunder
