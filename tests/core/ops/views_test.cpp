// reshape, permute, slice, split ... : values, shapes, memory, messages.
#include "support/eager.h"
#include "support/traces.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

bool share(const Tensor* a, const Tensor* b) { return a->storage() == b->storage(); }

TEST(Reshape, infers_one_size) {
  Eager e;
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor* y = e.run("reshape", {any(x), any(Ints{3, -1})});
  EXPECT_EQ(type(y), "f32[3, 2]");
  EXPECT_EQ(values(y), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(share(x, y));
}

TEST(Reshape, copies_a_transpose_in_the_order_of_its_elements) {
  Eager e;
  Tensor* x = e.run("transpose", {any(e.tensor({2, 3}, {1, 2, 3, 4, 5, 6})), any(0), any(1)});
  Tensor* y = e.run("reshape", {any(x), any(Ints{6})});
  EXPECT_EQ(values(y), (Doubles{1, 4, 2, 5, 3, 6}));
  EXPECT_FALSE(share(x, y));
}

TEST(Reshape, splits_a_strided_axis_without_a_copy) {
  Eager e;
  Tensor* x = e.run("transpose", {any(e.tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})), any(0), any(1)});
  Tensor* y = e.run("view", {any(x), any(Ints{2, 2, 1, 2})});
  EXPECT_EQ(values(y), (Doubles{1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_TRUE(share(x, y));
}

TEST(Reshape, names_both_element_counts) {
  Eager e;
  std::string message = e.refused("reshape", {any(e.tensor({2, 3}, Doubles(6))), any(Ints{4})});
  EXPECT_EQ(message, "reshape: shape [4] has 4 elements, the input f32[2, 3] has 6");
  message = e.refused("reshape", {any(e.tensor({2, 3}, Doubles(6))), any(Ints{4, -1})});
  EXPECT_EQ(message, "reshape: the input f32[2, 3] has 6 elements, which sizes of [4] do not divide for shape [4, -1]");
}

TEST(Views, keep_symbolic_sizes) {
  tests::TraceMaker m;
  const Dim s = m.recorder.store().dims().symbol(6);
  Var x = m.input("x", {s, 4, 8});
  auto shape = [&](std::string_view op, std::initializer_list<In> args) { return name(m.call(op, args).shape()); };
  const Dim pair[] = {-1, 32}, merged[] = {-1, 8};
  EXPECT_EQ(shape("reshape", {x, std::span<const Dim>(pair)}), "[s0, 32]");
  EXPECT_EQ(shape("reshape", {x, std::span<const Dim>(merged)}), "[(s0*4), 8]");
  EXPECT_EQ(shape("flatten", {x, 1}), "[s0, 32]");
  EXPECT_EQ(shape("slice", {x, 1, 1}), "[s0, 3, 8]");
  EXPECT_EQ(shape("slice", {x, 0, -2}), "[2, 4, 8]");
  EXPECT_EQ(shape("select", {x, 0, -1}), "[4, 8]");
  EXPECT_EQ(shape("tril", {m.call("reshape", {x, std::span<const Dim>(pair)})}), "[s0, 32]");
}

TEST(Flatten, merges_only_the_dims_asked_for) {
  Eager e;
  Tensor* x = e.tensor({2, 1, 3, 2}, Doubles(12));
  EXPECT_EQ(type(e.run("flatten", {any(x), any(1), any(2)})), "f32[2, 3, 2]");
  EXPECT_EQ(type(e.run("flatten", {any(x), any(-2)})), "f32[2, 1, 6]");
  EXPECT_EQ(type(e.run("flatten", {any(e.scalar(1))})), "f32[1]");
}

TEST(Permute, counts_dims_from_both_ends) {
  Eager e;
  Tensor* y = e.run("permute", {any(e.tensor({1, 2, 3}, {1, 2, 3, 4, 5, 6})), any(Ints{-1, 0, 1})});
  EXPECT_EQ(type(y), "f32[3, 1, 2]");
  EXPECT_EQ(values(y), (Doubles{1, 4, 2, 5, 3, 6}));
}

TEST(Squeeze, drops_sizes_of_one_only) {
  Eager e;
  Tensor* x = e.tensor({1, 2, 1}, {1, 2});
  EXPECT_EQ(type(e.run("squeeze", {any(x)})), "f32[2]");
  EXPECT_EQ(type(e.run("squeeze", {any(x), any(-1)})), "f32[1, 2]");
  EXPECT_EQ(type(e.run("squeeze", {any(x), any(Ints{0, 1})})), "f32[2, 1]");
  EXPECT_EQ(type(e.run("unsqueeze", {any(x), any(-1)})), "f32[1, 2, 1, 1]");
  EXPECT_NE(e.refused("unsqueeze", {any(e.scalar(1)), any(1)}).find("out of range"), std::string::npos);
}

TEST(Expand, repeats_without_a_copy) {
  Eager e;
  Tensor* x = e.tensor({2, 1}, {1, 2});
  Tensor* y = e.run("expand", {any(x), any(Ints{2, -1, 3})});
  EXPECT_EQ(values(y), (Doubles{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  EXPECT_TRUE(share(x, y));
}

TEST(Slice, clamps_bounds_and_steps) {
  Eager e;
  Tensor* x = e.tensor({5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(values(e.run("slice", {any(x), any(0), any(-4), any(99), any(2)})), (Doubles{2, 4}));
  EXPECT_EQ(values(e.run("slice", {any(x), any(0), any(-99), any(-3)})), (Doubles{1, 2}));
  EXPECT_EQ(type(e.run("slice", {any(x), any(0), any(4), any(2)})), "f32[0]");
  EXPECT_TRUE(share(x, e.run("slice", {any(x), any(0), any(1)})));
}

TEST(Slice, of_a_slice_of_a_transpose_reads_the_right_elements) {
  Eager e;
  Tensor* x = e.run("transpose", {any(e.tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})), any(0), any(1)});
  Tensor* y = e.run("slice", {any(x), any(0), any(1), Any{}, any(2)});
  EXPECT_EQ(values(y), (Doubles{2, 6, 4, 8}));
  EXPECT_EQ(values(e.run("select", {any(y), any(0), any(-1)})), (Doubles{4, 8}));
  EXPECT_EQ(values(e.run("select", {any(y), any(1), any(1)})), (Doubles{6, 8}));
}

TEST(Split, gives_views_that_cover_the_dim) {
  Eager e;
  Tensor* x = e.tensor({5}, {1, 2, 3, 4, 5});
  Tensor* out[3];
  const Any args[] = {any(x), any(2)};
  e.scope().invoke("split", args, nullptr, out, 3, nullptr);
  EXPECT_EQ(values(out[0]), (Doubles{1, 2}));
  EXPECT_EQ(values(out[2]), (Doubles{5}));
  EXPECT_TRUE(share(x, out[2]));
  const Ints sizes{4, 1};
  const Any listed[] = {any(x), any(sizes)};
  e.scope().invoke("split", listed, nullptr, out, 2, nullptr);
  EXPECT_EQ(values(out[1]), (Doubles{5}));
  const Any chunks[] = {any(x), any(2)};
  e.scope().invoke("chunk", chunks, nullptr, out, 2, nullptr);
  EXPECT_EQ(values(out[0]), (Doubles{1, 2, 3}));
}

TEST(Split, has_a_gradient_that_reaches_every_part) {
  Eager e(true);
  Tensor* x = e.tensor({3}, {1, 2, 3});
  Tensor* out[2];
  const Any args[] = {any(x), any(2)};
  e.scope().invoke("split", args, nullptr, out, 2, nullptr);
  Tensor* loss = e.run("prims.sum", {any(e.run("mul", {any(out[0]), any(out[1])})), any(Ints{0})});
  EXPECT_EQ(values(e.grad(loss, {x})[0]), (Doubles{3, 3, 3}));
}

}  // namespace
}  // namespace thunder
