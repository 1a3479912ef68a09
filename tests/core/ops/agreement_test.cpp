// Where PyTorch's answer is not the obvious one. Covers ops/defs/create, losses, arrange, convolutions, products and distances.
#include "support/eager.h"

namespace thunder {
namespace {

TEST(Agreement, numbers_are_rounded_to_zero_towards_integers) {
  Eager e;
  EXPECT_EQ(values(e.run("arange", {any(-0.9), any(2.1), any(2.0), any(DType::i64)})), (Doubles{0}));
  EXPECT_EQ(values(e.run("arange", {any(0.0), any(-8.5), any(-4.0), any(DType::i64)})), (Doubles{0, -4}));
  EXPECT_EQ(values(e.run("linspace", {any(-2.7), any(3.9), any(4), any(DType::i64)})), (Doubles{-2, 0, 1, 3}));
}

TEST(Agreement, a_variance_for_each_row_comes_before_one_for_each_column) {
  Eager e;
  Tensor* zeros = e.tensor({2, 2}, {0, 0, 0, 0});
  Tensor* ones = e.tensor({2, 2}, {1, 1, 1, 1});
  Tensor* loss = e.run("gaussian_nll_loss", {any(zeros), any(ones), any(e.tensor({2}, {1, 0.5})), any(false), any(1e-6), any("none")});
  EXPECT_EQ(type(loss), "f32[2, 2]");
  EXPECT_EQ(values(loss)[0], values(loss)[1]);
  EXPECT_NE(values(loss)[0], values(loss)[2]);
}

TEST(Agreement, what_is_cropped_is_no_part_of_a_circle) {
  Eager e;
  Tensor* x = e.tensor({1, 1, 5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(values(e.run("pad", {any(x), any(std::vector<int64_t>{-1, 2}), any("circular")})), (Doubles{1, 2, 3, 4, 1, 2}));
  EXPECT_EQ(values(e.run("pad", {any(x), any(std::vector<int64_t>{2, -2}), any("circular")})), (Doubles{1, 2, 0, 1, 2}));
}

// Each element goes to four places, a stride of 2 and then 4 apart; the last of them is beyond what the padding leaves.
TEST(Agreement, output_padding_uncovers_what_padding_cut) {
  Eager e;
  Tensor* y = e.run("conv_transpose1d", {any(e.tensor({1, 1, 2}, {1, 10})), any(e.tensor({1, 1, 3}, {1, 2, 3})), any(e.tensor({1}, {0})), any(2), any(2),
                                         any(3), any(1), any(4)});
  EXPECT_EQ(values(y), (Doubles{10, 0, 2, 0, 20, 0, 3, 0, 30, 0}));
}

TEST(Agreement, sums_and_squares_of_booleans) {
  Eager e;
  Tensor* square = e.run("square", {any(e.tensor({2}, {0, 1}, DType::boolean))});
  EXPECT_EQ(type(square), "i64[2]");
  Tensor* m = e.tensor({2, 2}, {0, 0, 1, 0}, DType::boolean);
  Tensor* v = e.tensor({2}, {0, 1}, DType::boolean);
  Tensor* sum = e.run("addr", {any(m), any(v), any(v)});
  EXPECT_EQ(type(sum), "bool[2, 2]");
  EXPECT_EQ(values(sum), (Doubles{0, 0, 1, 1}));
}

TEST(Agreement, the_covariance_of_one_row_is_a_variance) {
  Eager e;
  Tensor* x = e.tensor({1, 3}, {1, 2, 3});
  EXPECT_EQ(type(e.run("cov", {any(x)})), "f32[]");
  EXPECT_EQ(type(e.run("corrcoef", {any(x)})), "f32[]");
}

TEST(Agreement, bags_end_at_the_last_offset_and_leave_padding_out) {
  Eager e;
  Tensor* index = e.tensor({4}, {0, 1, 2, 1}, DType::i64);
  Tensor* weight = e.tensor({3, 1}, {1, 2, 4});
  Tensor* ends = e.tensor({3}, {0, 3, 4}, DType::i64);
  auto bag = [&](const char* mode, Any padding) {
    return e.run("embedding_bag", {any(index), any(weight), any(ends), any(mode), Any(), any(true), padding});
  };
  EXPECT_EQ(values(bag("sum", Any())), (Doubles{7, 2}));
  EXPECT_EQ(values(bag("mean", any(1))), (Doubles{2.5, 0}));
  EXPECT_EQ(values(bag("max", any(-1))), (Doubles{2, 2}));
}

TEST(Agreement, weights_of_observations_and_of_losses) {
  Eager e;
  Tensor* x = e.tensor({1, 3}, {1, 2, 3});
  Tensor* times = e.tensor({3}, {1, 2, 1}, DType::i64);
  EXPECT_NEAR(values(e.run("cov", {any(x), any(1), any(times)}))[0], 2.0 / 3, 1e-6) << "of 1 2 2 3";
  Tensor* loss = e.run("mse_loss", {any(e.tensor({2}, {1, 3})), any(e.tensor({2}, {0, 0})), any("mean"), any(e.tensor({2}, {1, 3}))});
  EXPECT_EQ(values(loss), (Doubles{7})) << "(1 + 27) / 4";
}

TEST(Agreement, places_may_be_narrow_and_the_sequence_in_any_order) {
  Eager e;
  Tensor* sequence = e.tensor({3}, {3, 1, 2});
  Tensor* order = e.tensor({3}, {1, 2, 0}, DType::i64);
  Tensor* at = e.run("searchsorted", {any(sequence), any(e.tensor({2}, {2, 4})), any(false), any(true), any("right"), any(order)});
  EXPECT_EQ(type(at), "i32[2]");
  EXPECT_EQ(values(at), (Doubles{2, 3}));
}

TEST(Agreement, differences_go_over_what_stands_before_and_behind) {
  Eager e;
  Tensor* x = e.tensor({2}, {1, 4});
  EXPECT_EQ(values(e.run("diff", {any(x), any(1), any(-1), any(e.scalar(0)), any(e.tensor({1}, {9}))})), (Doubles{1, 3, 5}));
}

TEST(Agreement, a_mask_may_be_larger_than_what_it_fills) {
  Eager e;
  Tensor* mask = e.tensor({2, 1}, {0, 1}, DType::boolean);
  EXPECT_EQ(values(e.run("masked_scatter", {any(e.tensor({2}, {1, 2})), any(mask), any(e.tensor({2}, {8, 9}))})), (Doubles{1, 2, 8, 9}));
}

TEST(Agreement, a_tensor_without_dims_is_one_slice) {
  Eager e;
  Tensor* x = e.scalar(2);
  Tensor* first = e.tensor({1}, {0}, DType::i64);
  for (const char* op : {"index_copy", "index_add", "index_fill"}) EXPECT_EQ(type(e.run(op, {any(x), any(0), any(first), any(e.scalar(5))})), "f32[]") << op;
  EXPECT_EQ(values(e.run("index_add", {any(x), any(0), any(first), any(e.scalar(5))})), (Doubles{7}));
  EXPECT_EQ(type(e.run("unfold", {any(x), any(0), any(1), any(1)})), "f32[1]");
  EXPECT_EQ(values(e.run("take_along_dim", {any(e.tensor({2}, {1, 2})), any(e.tensor({1}, {-1}, DType::i64)), any(0)})), (Doubles{2}));
  EXPECT_EQ(values(e.run("scatter", {any(e.tensor({2}, {1, 2})), any(0), any(first), any(0.5), any("add")})), (Doubles{1.5, 2}));
}

TEST(Agreement, a_target_that_is_no_sign_counts_for_both) {
  Eager e;
  Tensor* loss = e.run("hinge_embedding_loss", {any(e.tensor({3}, {0.25, 0.25, 0.25})), any(e.tensor({3}, {1, -1, 0})), any(1.0), any("none")});
  EXPECT_EQ(values(loss), (Doubles{0.25, 0.75, 1}));
}

}  // namespace
}  // namespace thunder
