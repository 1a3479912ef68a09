// Sums of many rows, which are accumulated in row order, and nodes that read them.
// covers: core/executors/fusion/group_nodes.cpp
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
using Dims = std::vector<int64_t>;

struct ColumnSums : FusedTest {};
struct ColumnGroups : LinesTest {};

// Many: four times the L2 cache or more, which has 2 MiB on some machines.
TEST_F(ColumnGroups, sums_over_many_rows_end_the_group) {
  prim("prims.neg", {prim("prims.sum", {prim("prims.exp", {input({1024, 1 << 14})}), Shape{0}})});
  EXPECT_EQ(refusal(), "it reads a sum over the outer axes, which is known only when the kernel has ended");
}

TEST_F(ColumnGroups, sums_over_few_rows_can_be_read_by_the_group) {
  prim("prims.neg", {prim("prims.sum", {prim("prims.exp", {input({256, 8192})}), Shape{0}})});
  EXPECT_EQ(refusal(), "");
  lines().clear();
  prim("prims.neg", {prim("prims.sum", {prim("prims.exp", {input({1024, 1024})}), Shape{1}})});
  EXPECT_EQ(refusal(), "");
}

TEST_F(ColumnSums, support_real_and_integer_dtypes) {
  const auto sum = [](Scope& s, In t) { return std::vector{call(s, "sum", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(Dims{0})})}; };
  agree(sum, {numbers({1100, 1001}), numbers({1001})}, 1, 1e-5);
  agree(sum, {numbers({1100, 1001}, DType::f64), numbers({1001}, DType::f64)}, 1, 1e-13);
  agree(sum, {numbers({1100, 1001}, DType::bf16), numbers({1001}, DType::bf16)}, 1, 0.02);
  agree(sum, {numbers({1100, 1001}, DType::i64, -9, 9), numbers({1001}, DType::i64, -9, 9)}, 1, 0);
}

TEST_F(ColumnSums, over_several_dims_share_a_kernel_with_elementwise_outputs) {
  const auto made = agree([](Scope& s, In t) {
    Tensor* y = call(s, "mul", {arg(call(s, "sin", {arg(t[0])})), arg(t[1])});
    return std::vector{y, call(s, "sum", {arg(y), arg(Dims{0, 1}), Any::boolean(true)})};
  }, {numbers({2, 600, 1000}), numbers({2, 600, 1000})}, 2, 1e-5);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

// They are made in runs: one number after the other they would be 1.9e-6 away.
TEST_F(ColumnSums, of_many_rows_round_no_more_than_runs_do) {
  for (const auto& shape : {std::vector<int64_t>{2500, 64}, {3, 800, 40}, {129, 33}}) {
    const Dims over = shape.size() == 2 ? Dims{0} : Dims{0, 1};
    agree([&](Scope& s, In t) { return std::vector{call(s, "sum", {arg(t[0]), arg(over)})}; }, {numbers(shape, DType::f32, 0, 1)}, 1, 6e-7);
  }
}

// More than are summed at a time, the last ones not as many.
TEST_F(ColumnSums, of_long_rows_are_computed_in_strips) {
  for (const int64_t columns : {2048, 2500}) {
    const auto made = agree([](Scope& s, In t) {
      Tensor* y = call(s, "mul", {arg(t[0]), arg(t[1])});
      return std::vector{call(s, "sum", {arg(y), arg(Dims{0, 1})}), call(s, "sum", {arg(call(s, "mul", {arg(y), arg(t[0])})), arg(Dims{0, 1})}), y};
    }, {numbers({2, 300, columns}), numbers({columns})}, 3, 1e-5);
    EXPECT_EQ(made.kernels, 1u) << made.text;
  }
}

TEST_F(ColumnSums, share_a_kernel_with_row_reductions) {
  agree([](Scope& s, In t) {
    Tensor *columns = call(s, "sum", {arg(t[0]), arg(Dims{0})}), *rows = call(s, "softmax", {arg(t[0]), arg(int64_t{1})});
    return std::vector{columns, call(s, "sum", {arg(rows), arg(Dims{0})}), rows};
  }, {numbers({1024, 1030})}, 3, 1e-5);
}

TEST_F(ColumnSums, read_transposed_operands) {
  agree([](Scope& s, In t) {
    Tensor* turned = call(s, "transpose", {arg(t[0]), arg(int64_t{0}), arg(int64_t{1})});
    return std::vector{call(s, "sum", {arg(turned), arg(Dims{0})}), call(s, "sum", {arg(call(s, "mul", {arg(turned), arg(t[1])})), arg(Dims{0})})};
  }, {numbers({1030, 1024}), numbers({1024, 1030})}, 2, 1e-5);
}

TEST_F(ColumnSums, compute_batch_norm_and_its_gradients) {
  const Tensors in = {numbers({2048, 520}), numbers({520}), numbers({520}), numbers({2048, 520})};
  agree([](Scope& s, In t) {
    return with_gradients(s, call(s, "batch_norm", {arg(t[0]), Any{}, Any{}, arg(t[1]), arg(t[2]), Any::boolean(true)}), t, 3);
  }, in, 4, 5e-5);
}

TEST_F(ColumnSums, have_the_same_bits_for_any_number_of_threads) {
  const Body body = [](Scope& s, In t) { return std::vector{call(s, "sum", {arg(call(s, "exp", {arg(t[0])})), arg(Dims{0})})}; };
  const Tensors in = {numbers({1500, 1000})};
  context->use_threads(1);
  const auto one = outcome(body, in, 1, "fusion");
  for (size_t threads : {2, 5}) {
    context->use_threads(threads);
    EXPECT_EQ(outcome(body, in, 1, "fusion").results, one.results) << threads;
  }
}

}  // namespace
}  // namespace thunder::fusion
