// cat, stack, pad, copy, to: values, promotion, gradients, messages.
#include "support/eager.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

Any list(std::span<Tensor* const> tensors) {
  Any a;
  a.kind = ArgKind::values, a.count = static_cast<uint32_t>(tensors.size()), a.ts = tensors.data();
  return a;
}

TEST(Cat, promotes_and_skips_the_empty_vector) {
  Eager e;
  Tensor* parts[] = {e.tensor({2, 1}, {1, 2}, DType::i64), e.tensor({0}, {}), e.tensor({2, 2}, {3, 4, 5, 6}, DType::bf16)};
  Tensor* y = e.run("cat", {list(parts), any(-1)});
  EXPECT_EQ(type(y), "f32[2, 3]");
  EXPECT_EQ(values(y), (Doubles{1, 3, 4, 2, 5, 6}));
}

TEST(Cat, is_a_copy_even_of_one_tensor) {
  Eager e;
  Tensor* parts[] = {e.tensor({2}, {1, 2})};
  EXPECT_FALSE(e.run("cat", {list(parts)})->storage() == parts[0]->storage());
}

TEST(Cat, hands_each_part_its_gradient) {
  Eager e(true);
  Tensor* parts[] = {e.tensor({2}, {1, 2}), e.tensor({1}, {3})};
  Tensor* y = e.run("cat", {list(parts)});
  Tensor* loss = e.run("prims.sum", {any(e.run("mul", {any(y), any(e.tensor({3}, {5, 6, 7}))})), any(Ints{})});
  auto g = e.grad(loss, {parts[0], parts[1]});
  EXPECT_EQ(values(g[0]), (Doubles{5, 6}));
  EXPECT_EQ(values(g[1]), (Doubles{7}));
}

TEST(Cat, names_the_tensor_that_does_not_fit) {
  Eager e;
  Tensor* parts[] = {e.tensor({2, 1}, {1, 2}), e.tensor({3, 1}, {1, 2, 3})};
  EXPECT_NE(e.refused("cat", {list(parts), any(1)}).find("tensor 0 is f32[2, 1], tensor 1 is f32[3, 1]"), std::string::npos);
}

TEST(Stack, adds_a_dim) {
  Eager e;
  Tensor* parts[] = {e.tensor({2}, {1, 2}), e.tensor({2}, {3, 4})};
  EXPECT_EQ(values(e.run("stack", {list(parts), any(-1)})), (Doubles{1, 3, 2, 4}));
  EXPECT_EQ(type(e.run("stack", {list(parts)})), "f32[2, 2]");
}

TEST(Pad, goes_from_the_last_dim_and_crops_where_negative) {
  Eager e;
  Tensor* x = e.tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values(e.run("pad", {any(x), any(Ints{1, 0})})), (Doubles{0, 1, 2, 0, 3, 4}));
  Tensor* y = e.run("pad", {any(x), any(Ints{-1, 1, 0, 1}), any("constant"), any(9.0)});
  EXPECT_EQ(type(y), "f32[3, 2]");
  EXPECT_EQ(values(y), (Doubles{2, 9, 4, 9, 9, 9}));
  EXPECT_FALSE(e.run("pad", {any(x), any(Ints{0, 0})})->storage() == x->storage());
}

TEST(Copy, stores_into_the_memory_and_dtype_that_are_there) {
  Eager e;
  Tensor* x = e.tensor({2, 2}, {1, 2, 3, 4}, DType::i64);
  EXPECT_EQ(values(e.run("copy_", {any(x), any(e.tensor({2}, {1.75, -1.75}))})), (Doubles{1, -1, 1, -1}));
  EXPECT_EQ(values(e.run("fill_", {any(x), any(6)})), (Doubles{6, 6, 6, 6}));
}

TEST(To, is_the_input_itself_when_nothing_changes) {
  Eager e;
  Tensor* x = e.tensor({2}, {1.5, 2});
  EXPECT_TRUE(e.run("to", {any(x), any(DType::f32)})->storage() == x->storage());
  EXPECT_EQ(type(e.run("to", {any(x), any("int64")})), "i64[2]");
}

}  // namespace
}  // namespace thunder
