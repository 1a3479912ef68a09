// Small tensors that a thread keeps for the next of their type.
#include "tensor/spares.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/block_cache.h"
#include "support/tensors.h"

namespace thunder {
namespace {

const Allocator kAllocator = default_allocator();

TensorType floats(std::initializer_list<int64_t> shape, DType dtype = DType::f32) { return type_of(dtype, shape); }

// Where a tensor of this type lies that is released at once.
const Tensor* place(const TensorType& type) { return Tensor::empty(kAllocator, type).get(); }

TEST(Spares, are_the_tensors_that_were_released_last) {
  const Tensor* first = place(floats({4, 4}));
  EXPECT_EQ(place(floats({4, 4})), first);
  const Ref<Tensor> held = Tensor::empty(kAllocator, floats({4, 4}));
  EXPECT_EQ(held.get(), first);
  const Ref<Tensor> another = Tensor::empty(kAllocator, floats({4, 4}));
  EXPECT_NE(another.get(), first) << "two have one place";
  EXPECT_TRUE(held->unique());
}

TEST(Spares, are_of_the_same_type_alone) {
  for (const TensorType& type : {floats({16}), floats({4, 4}), floats({2, 8}), floats({16, 1}), floats({4, 4}, DType::i32), floats({32}, DType::bf16)}) {
    place(floats({4, 4}));
    const Ref<Tensor> t = Tensor::empty(kAllocator, type);
    EXPECT_EQ(t->type(), type);
    EXPECT_EQ(t->strides(), dense_strides(type.shape));
    EXPECT_EQ(t->guard(), guard_word(ArgKind::value, type.dtype, type.rank(), false, Device::cpu));
  }
}

TEST(Spares, forget_what_was_done_with_them) {
  {
    const Ref<Tensor> t = Tensor::empty(kAllocator, floats({5}));
    t->bump();
    t->set_read_only();
  }
  const Ref<Tensor> t = Tensor::empty(kAllocator, floats({5}));
  EXPECT_FALSE(t->read_only());
  EXPECT_EQ(t->storage()->version(), 0u);
}

TEST(Spares, wait_for_views_of_their_memory) {
  Ref<Tensor> t = Tensor::empty(kAllocator, floats({6}));
  const Tensor* at = t.get();
  const Ref<Tensor> part = Tensor::view(t->storage(), floats({3}), {2}, 0);
  t = nullptr;
  EXPECT_NE(place(floats({6})), at);
}

TEST(Spares, are_small) {
  const Ref<Tensor> t = Tensor::empty(kAllocator, floats({1024}));
  EXPECT_FALSE(t->storage()->small());
  EXPECT_TRUE(Tensor::empty(kAllocator, floats({16}))->storage()->small());
}

TEST(Spares, belong_to_no_callers_allocator) {
  static int out = 0;
  const Allocator theirs = {[](size_t bytes, size_t align, void*) { return out++, allocate_aligned(bytes, align); },
                            [](void* p, size_t, size_t, void*) { out--, deallocate_aligned(p); }, nullptr, false};
  place(floats({7}));
  Tensor::empty(theirs, floats({7}));
  EXPECT_EQ(out, 0);
  const Ref<Tensor> t = Tensor::empty(theirs, floats({7}));
  EXPECT_EQ(out, 1) << "memory of another allocator";
}

TEST(Spares, outlive_the_cache_that_they_came_from) {
  BlockCache* cache = BlockCache::open(default_allocator(), 1 << 20);
  const Tensor* at = Tensor::empty(cache->allocator(), floats({9})).get();
  cache->close();
  EXPECT_EQ(place(floats({9})), at);
}

TEST(Spares, of_a_thread_end_with_it) {
  Ref<Tensor> given = Tensor::empty(kAllocator, floats({11}));
  const Tensor* at = given.get();
  std::thread([&] {
    given = nullptr;
    const Ref<Tensor> again = Tensor::empty(kAllocator, floats({11}));
    EXPECT_EQ(again.get(), at) << "it is the releasing thread's";
  }).join();  // a leak, or a use of what is gone, is the sanitizer's to find
}

}  // namespace
}  // namespace thunder
