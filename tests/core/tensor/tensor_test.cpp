#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(DenseBytes, counts_and_refuses_what_cannot_be) {
  EXPECT_EQ(dense_bytes(type_of(DType::f64, {})), 8u);
  EXPECT_EQ(dense_bytes(type_of(DType::f32, {3, 0, 5})), 0u);
  EXPECT_EQ(dense_bytes(type_of(DType::bf16, {3, 5})), 30u);
  EXPECT_PRED2(contains, failure_of([] { dense_bytes(type_of(DType::f32, {2, -1})); }), "not be negative: f32[2, -1]");
  EXPECT_PRED2(contains, failure_of([] { dense_bytes(type_of(DType::f32, {kMost / 4 + 1})); }), "would not fit");
  EXPECT_PRED2(contains, failure_of([] { dense_bytes(type_of(DType::u8, {kMost, 2})); }), "would not fit");
  EXPECT_PRED2(contains, failure_of([] { dense_bytes(type_of(DType::u8, {kMost, 2, 0})); }), "would not fit");
}

TEST(DenseStrides, are_row_major_and_never_zero) {
  EXPECT_EQ(dense_strides(Shape{2, 3, 4}), (Sizes{12, 4, 1}));
  EXPECT_EQ(dense_strides(Shape{2, 0, 4}), (Sizes{4, 4, 1}));
  EXPECT_EQ(dense_strides(Shape{}), Sizes{});
}

TEST(IsDense, ignores_strides_of_single_and_absent_elements) {
  auto dense = [](Sizes sizes, Sizes strides) { return is_dense(sizes, strides); };
  EXPECT_TRUE(dense({2, 3}, {3, 1}));
  EXPECT_TRUE(dense({2, 1, 3}, {3, 99, 1}));
  EXPECT_TRUE(dense({2, 0}, {7, 7}));
  EXPECT_TRUE(dense({}, {}));
  EXPECT_FALSE(dense({2, 3}, {1, 2}));
  EXPECT_FALSE(dense({2, 3}, {4, 1}));
  EXPECT_FALSE(dense({2}, {0}));
}

TEST(Extent, covers_what_a_view_touches) {
  auto reach = [](Sizes sizes, Sizes strides) {
    Extent e = extent(sizes, strides, 4);
    return std::pair(e.begin, e.end);
  };
  EXPECT_EQ(reach({2, 3}, {3, 1}), (std::pair<int64_t, int64_t>(0, 24)));
  EXPECT_EQ(reach({}, {}), (std::pair<int64_t, int64_t>(0, 4)));
  EXPECT_EQ(reach({3}, {-1}), (std::pair<int64_t, int64_t>(-8, 4)));
  EXPECT_EQ(reach({3, 2}, {-2, 5}), (std::pair<int64_t, int64_t>(-16, 24)));
  EXPECT_EQ(reach({5}, {0}), (std::pair<int64_t, int64_t>(0, 4)));
  EXPECT_EQ(reach({5, 0}, {kMost, 1}), (std::pair<int64_t, int64_t>(0, 0)));
}

TEST(Extent, refuses_to_overflow) {
  auto refusal = [](Sizes sizes, Sizes strides) { return failure_of([&] { extent(sizes, strides, 4); }); };
  EXPECT_PRED2(contains, refusal({3}, {kMost}), "63 bits");
  EXPECT_PRED2(contains, refusal({2}, {kMost / 2}), "63 bits");
  EXPECT_PRED2(contains, refusal({2, 2}, {kMost, kMost}), "63 bits");
  EXPECT_PRED2(contains, refusal({3}, {std::numeric_limits<int64_t>::min()}), "63 bits");
}

TEST(Tensor, is_dense_and_its_own_when_fresh) {
  auto t = Tensor::empty(default_allocator(), type_of(DType::f32, {2, 3}));
  EXPECT_TRUE(t->contiguous());
  EXPECT_EQ(t->bytes(), 24u);
  EXPECT_EQ(t->storage()->bytes(), 24u);
  EXPECT_EQ(t->buffer().rank, 2);
  EXPECT_EQ(t->buffer().elements(), 6);
}

TEST(Tensor, lets_views_outlive_it) {
  auto t = tensor_of<float>(DType::f32, {2}, {1, 2});
  auto second = Tensor::view(t->storage(), type_of(DType::f32, {1}), Sizes{1}, 4);
  t = nullptr;
  EXPECT_EQ(values_of<float>(*second), std::vector<float>{2});
}

TEST(Tensor, has_memory_of_the_hooks_to_itself) {
  struct Hooks {
    size_t bytes = 0;
    int live = 0;
  } hooks;
  Allocator allocator{[](size_t bytes, size_t align, void* user) {
                        auto* h = static_cast<Hooks*>(user);
                        h->bytes = bytes, h->live++;
                        return default_allocator().allocate(bytes, align, nullptr);
                      },
                      [](void* p, size_t bytes, size_t align, void* user) {
                        auto* h = static_cast<Hooks*>(user);
                        EXPECT_EQ(bytes, h->bytes);
                        h->live--;
                        default_allocator().deallocate(p, bytes, align, nullptr);
                      },
                      &hooks};
  auto t = Tensor::empty(allocator, type_of(DType::f32, {2, 3}));
  EXPECT_EQ(hooks.bytes, 24u) << "no object of ours lies in the host's memory";
  t = nullptr;
  EXPECT_EQ(hooks.live, 0);
}

TEST(Tensor, guards_tell_what_a_call_may_get_from_what_it_may_not) {
  auto t = tensor_of<float>(DType::f32, {2}, {1, 2});
  EXPECT_EQ(t->guard(), tensor_of<float>(DType::f32, {9}, std::vector<float>(9))->guard()) << "sizes are compared after it";
  EXPECT_NE(t->guard(), tensor_of<int32_t>(DType::i32, {2}, {1, 2})->guard());
  EXPECT_NE(t->guard(), Tensor::view(t->storage(), type_of(DType::f32, {2}), Sizes{0}, 0)->guard());
  EXPECT_NE(t->guard(), Tensor::number(Arg::real(1))->guard());
  EXPECT_NE(t->guard(), Tensor::proxy(t->type(), nullptr, 0)->guard());
}

TEST(Tensor, stands_for_a_number_by_its_category) {
  EXPECT_EQ(name(Tensor::number(Arg::boolean(true))->type()), "bool~[]");
  EXPECT_EQ(name(Tensor::number(Arg::integer(3))->type()), "i64~[]");
  EXPECT_EQ(name(Tensor::number(Arg::real(3))->type()), "f64~[]");
}

// Element i of the row-major order holds i.
template <class T>
void expect_copied(DType dtype) {
  std::vector<T> values(24);
  std::iota(values.begin(), values.end(), T{0});
  auto base = tensor_of(dtype, {2, 3, 4}, values);
  auto turned = Tensor::view(base->storage(), type_of(dtype, {4, 2, 3}), Sizes{1, 12, 4}, 0);
  std::vector<T> expected;
  for (size_t k = 0; k < 4; k++)
    for (size_t i = 0; i < 2; i++)
      for (size_t j = 0; j < 3; j++) expected.push_back(values[12 * i + 4 * j + k]);
  auto copy = dense_copy(default_allocator(), *turned);
  EXPECT_TRUE(copy->contiguous());
  EXPECT_EQ(values_of<T>(*copy), expected) << name(dtype);
  auto back = tensor_of(dtype, {2, 3, 4}, std::vector<T>(24));
  auto back_turned = Tensor::view(back->storage(), type_of(dtype, {4, 2, 3}), Sizes{1, 12, 4}, 0);
  copy_strided(copy->buffer(), back_turned->buffer());
  EXPECT_EQ(values_of<T>(*back), values) << "writing through strides undoes reading through them";
}

TEST(CopyStrided, moves_elements_of_every_size) {
  expect_copied<uint8_t>(DType::u8);
  expect_copied<uint16_t>(DType::bf16);
  expect_copied<float>(DType::f32);
  expect_copied<double>(DType::f64);
}

TEST(CopyStrided, turns_planes_larger_than_its_squares) {
  const int64_t sizes[] = {3, 70, 45};
  std::vector<int32_t> values(3 * 70 * 45), expected;
  std::iota(values.begin(), values.end(), 0);
  auto t = tensor_of<int32_t>(DType::i32, {3, 70, 45}, values);
  for (int64_t b = 0; b < sizes[0]; b++)
    for (int64_t j = 0; j < sizes[2]; j++)
      for (int64_t i = 0; i < sizes[1]; i++) expected.push_back(static_cast<int32_t>((b * sizes[1] + i) * sizes[2] + j));
  auto turned = Tensor::view(t->storage(), type_of(DType::i32, {3, 45, 70}), Sizes{70 * 45, 1, 45}, 0);
  EXPECT_EQ(values_of<int32_t>(*dense_copy(default_allocator(), *turned)), expected);
}

TEST(CopyStrided, repeats_and_reverses) {
  auto three = tensor_of<int32_t>(DType::i32, {3}, {1, 2, 3});
  auto rows = Tensor::view(three->storage(), type_of(DType::i32, {2, 3}), Sizes{0, 1}, 0);
  EXPECT_EQ(values_of<int32_t>(*rows), (std::vector<int32_t>{1, 2, 3, 1, 2, 3}));
  auto backwards = Tensor::view(three->storage(), type_of(DType::i32, {3}), Sizes{-1}, 8);
  EXPECT_EQ(values_of<int32_t>(*backwards), (std::vector<int32_t>{3, 2, 1}));
}

TEST(CopyStrided, leaves_the_gaps_of_the_target_alone) {
  auto target = tensor_of<int32_t>(DType::i32, {4}, {9, 9, 9, 9});
  auto odd = Tensor::view(target->storage(), type_of(DType::i32, {2}), Sizes{2}, 4);
  copy_strided(tensor_of<int32_t>(DType::i32, {2}, {1, 2})->buffer(), odd->buffer());
  EXPECT_EQ(values_of<int32_t>(*target), (std::vector<int32_t>{9, 1, 9, 2}));
}

TEST(CopyStrided, accepts_scalars_and_nothing) {
  EXPECT_EQ(values_of<float>(*tensor_of<float>(DType::f32, {}, {5})), std::vector<float>{5});
  EXPECT_TRUE(values_of<float>(*tensor_of<float>(DType::f32, {0, 3}, {})).empty());
}

}  // namespace
}  // namespace thunder
