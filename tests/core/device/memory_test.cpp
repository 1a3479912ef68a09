#include "device/memory.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/failure.h"

namespace thunder {
namespace {

// Counts, checks what comes back, and refuses when told.
struct Counting {
  int live = 0, calls = 0;
  size_t bytes = 0;
  bool refuse = false;
  Allocator allocator() {
    return {[](size_t bytes, size_t align, void* user) -> void* {
              auto* self = static_cast<Counting*>(user);
              self->calls++;
              if (self->refuse) return nullptr;
              self->live++;
              self->bytes = bytes;
              return default_allocator().allocate(bytes, align, nullptr);
            },
            [](void* p, size_t bytes, size_t align, void* user) {
              auto* self = static_cast<Counting*>(user);
              self->live--;
              EXPECT_EQ(bytes, self->bytes);
              EXPECT_EQ(align, kAlign);
              default_allocator().deallocate(p, bytes, align, nullptr);
            },
            this};
  }
};

TEST(Storage, is_aligned_and_freed_by_its_last_owner) {
  Counting counting;
  {
    auto storage = Storage::allocate(counting.allocator(), 100);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % kAlign, 0u);
    EXPECT_EQ(storage->bytes(), 100u);
    EXPECT_TRUE(storage->owned());
    Ref<Storage> second = storage;
    storage = nullptr;
    EXPECT_EQ(counting.live, 1);
  }
  EXPECT_EQ(counting.live, 0);
}

TEST(Storage, of_no_bytes_asks_nobody) {
  Counting counting;
  EXPECT_EQ(Storage::allocate(counting.allocator(), 0)->data(), nullptr);
  EXPECT_EQ(counting.calls, 0);
}

TEST(Storage, says_how_much_memory_was_missing) {
  Counting counting;
  counting.refuse = true;
  EXPECT_PRED2(contains, failure_of([&] { Storage::allocate(counting.allocator(), 12345); }), "12345 bytes");
  EXPECT_EQ(code_of([&] { Storage::allocate(counting.allocator(), 1); }), Code::out_of_memory);
  EXPECT_EQ(counting.live, 0);
}

TEST(Storage, lets_go_of_borrowed_bytes_once) {
  int let_go = 0;
  char bytes[4];
  auto count = [](void* user) { ++*static_cast<int*>(user); };
  auto storage = Storage::borrow(bytes, sizeof bytes, count, &let_go);
  EXPECT_FALSE(storage->owned());
  EXPECT_EQ(static_cast<void*>(storage->data()), bytes);
  storage = nullptr;
  EXPECT_EQ(let_go, 1);
  storage = Storage::borrow(bytes, sizeof bytes, nullptr, nullptr);
  EXPECT_FALSE(storage->owned()) << "without a callback the bytes are still not ours";
  storage->on_release(count, &let_go);
  storage = nullptr;
  EXPECT_EQ(let_go, 2);
}

}  // namespace
}  // namespace thunder
