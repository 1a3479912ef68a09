// Which nodes one loop nest computes, and the reason where it cannot.
// covers: core/executors/fusion/group_nodes.cpp
#include "executors/fusion/group.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

struct Groups : LinesTest {};

TEST_F(Groups, accept_elementwise_nodes_of_one_shape) {
  Var a = prim("prims.exp", {input({4, 5})});
  prim("prims.mul", {a, input({4, 5})});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, reject_elementwise_nodes_of_other_shapes) {
  prim("prims.exp", {input({4, 5})});
  prim("prims.exp", {input({5, 4})});
  EXPECT_EQ(refusal(), "it is iterated by other loops than the rest of the group");
}

// A kernel is given a tensor once, however many of its lines read it.
TEST_F(Groups, count_an_input_once) {
  Capabilities can;
  can.max_arguments = 12;
  Var x = input({4, 5}), y = x;
  for (int i = 0; i < 10; i++) y = prim("prims.mul", {x, y});
  Group group(store(), can);
  EXPECT_TRUE(group.add_all(lines())) << group.rejection_reason();
}

TEST_F(Groups, unify_axes_through_a_reshape) {
  Var a = prim("prims.exp", {input({2, 3, 4})}), b = prim("prims.reshape", {a, Shape{6, 4}});
  prim("prims.mul", {b, input({6, 4})});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, unify_axes_through_a_permutation) {
  Var a = prim("prims.exp", {input({2, 3})}), b = prim("prims.permute", {a, Shape{1, 0}});
  prim("prims.mul", {b, input({3, 2})});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, reject_a_node_that_reads_a_value_and_its_transpose) {
  Var a = prim("prims.exp", {input({3, 3})}), b = prim("prims.permute", {a, Shape{1, 0}});
  prim("prims.add", {a, b});
  EXPECT_EQ(refusal(), "it reads the same value along two different axes at once");
}

TEST_F(Groups, reject_a_reshape_whose_sizes_do_not_divide) {
  Var a = prim("prims.exp", {input({4, 3})});
  prim("prims.reshape", {a, Shape{3, 4}});
  EXPECT_EQ(refusal(), "the shapes of a reshape do not divide each other");
}

TEST_F(Groups, reject_views_of_inputs) {
  prim("prims.permute", {input({4, 3}), Shape{1, 0}});
  EXPECT_EQ(refusal(), "a view of an input costs nothing outside of the kernel");
}

TEST_F(Groups, accept_broadcasts_of_their_reductions) {
  Var x = input({4, 5}), m = prim("prims.amax", {x, Shape{1}}), k = prim("prims.reshape", {m, Shape{4, 1}});
  prim("prims.sub", {x, prim("prims.expand", {k, Shape{4, 5}})});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, reject_broadcasts_of_values_that_are_not_reduced) {
  Var a = prim("prims.exp", {input({4, 1})});
  prim("prims.expand", {a, Shape{4, 5}});
  EXPECT_EQ(refusal(), "it broadcasts a value that is not reduced in the group");
}

TEST_F(Groups, accept_several_reductions_over_the_same_axes) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.sum", {x, Shape{1}});
  prim("prims.amax", {x, Shape{1}});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, accept_argmax_over_the_reduced_axis) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.sum", {x, Shape{1}});
  Var at = prim("prims.argmax", {x, 1});
  prim("prims.eq", {at, input({4}, DType::i64)});
  EXPECT_EQ(refusal(), "");
  prim("prims.argmax", {x, 0});
  EXPECT_EQ(refusal(), "it reduces other axes than the rest of the group");
}

TEST_F(Groups, accept_column_sums_beside_row_reductions) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.amax", {x, Shape{1}});
  prim("prims.sum", {x, Shape{0}});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, reject_column_maxima_beside_row_reductions) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.sum", {x, Shape{1}});
  prim("prims.amax", {x, Shape{0}});
  EXPECT_EQ(refusal(), "it reduces other axes than the rest of the group");
}

TEST_F(Groups, end_with_a_column_sum) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.amax", {x, Shape{1}});
  prim("prims.neg", {prim("prims.sum", {x, Shape{0}})});
  EXPECT_EQ(refusal(), "it reads a sum over the outer axes, which is known only when the kernel has ended");
}

TEST_F(Groups, end_with_a_sum_over_all_axes) {
  prim("prims.neg", {prim("prims.sum", {prim("prims.exp", {input({4, 5})}), Shape{}})});
  EXPECT_EQ(refusal(), "it reads a sum over the outer axes, which is known only when the kernel has ended");
}

TEST_F(Groups, accept_scans_along_the_reduced_axis) {
  Var x = prim("prims.exp", {input({4, 5})});
  Var y = prim("prims.cumsum", {x, 1, false});
  prim("prims.sum", {y, Shape{1}});
  EXPECT_EQ(refusal(), "");
  prim("prims.cumsum", {x, 0, false});
  EXPECT_EQ(refusal(), "it scans another axis than the group reduces");
}

TEST_F(Groups, reject_scans_in_two_directions) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.add", {prim("prims.cumsum", {x, 1, false}), prim("prims.cumsum", {x, 1, true})});
  EXPECT_EQ(refusal(), "it scans in another direction than the rest of the group");
}

TEST_F(Groups, reject_reads_at_other_indices_along_a_scanned_axis) {
  Var y = prim("prims.cumsum", {input({4, 5}), 1, false});
  prim("prims.gather", {y, 1, input({4, 1}, DType::i64)});
  EXPECT_EQ(refusal(), "it scans an axis along which other values are read at other indices");
}

TEST_F(Groups, accept_gathering_one_element_of_a_row) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.gather", {x, 1, input({4, 1}, DType::i64)});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, reject_gathering_several_elements_of_a_row) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.gather", {x, 1, input({4, 2}, DType::i64)});
  EXPECT_EQ(refusal(), "it gathers more than one element of a row");
}

TEST_F(Groups, accept_gathering_rows_of_an_input) {
  Var x = prim("prims.take", {input({9, 5}), 0, input({4, 3}, DType::i64)});
  prim("prims.add", {x, input({4, 3, 5})});
  prim("prims.sum", {x, Shape{2}});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, reject_gathering_rows_of_a_computed_value) {
  prim("prims.take", {prim("prims.exp", {input({9, 5})}), 0, input({4}, DType::i64)});
  EXPECT_EQ(refusal(), "it takes slices of a value that the group computes");
}

TEST_F(Groups, reject_gathers_along_an_axis_that_is_not_reduced) {
  Var x = prim("prims.exp", {input({4, 5})});
  prim("prims.sum", {x, Shape{1}});
  prim("prims.gather", {x, 0, input({1, 5}, DType::i64)});
  EXPECT_EQ(refusal(), "it gathers along another axis than the group reduces");
}

TEST_F(Groups, reject_gathers_along_a_split_dim) {
  Var x = prim("prims.exp", {input({4, 6})});
  prim("prims.gather", {x, 1, input({4, 1}, DType::i64)});
  Var y = prim("prims.reshape", {x, Shape{4, 2, 3}});
  prim("prims.mul", {y, input({4, 2, 3})});
  EXPECT_EQ(refusal(), "it gathers, concatenates or scans along a dim that other nodes split");
}

TEST_F(Groups, accept_concatenation_of_equal_shapes) {
  Var x = prim("prims.exp", {input({4, 5})}), y = prim("prims.sin", {x});
  Var joined = maker.call("prims.cat", {ValueList{x.id, y.id, input({4, 5}).id}, 1});
  prim("prims.mul", {joined, input({4, 15})});
  prim("prims.sum", {joined, Shape{1}});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, accept_concatenation_of_different_sizes) {
  Var x = prim("prims.exp", {input({4, 6})});
  Var joined = maker.call("prims.cat", {ValueList{input({4, 5}).id, x.id, input({4, 1}).id}, 1});
  prim("prims.mul", {joined, input({4, 12})});
  EXPECT_EQ(refusal(), "");
}

TEST_F(Groups, accept_concatenation_of_reordered_slices) {
  Var x = prim("prims.exp", {input({4, 7})});
  Var low = prim("prims.slice", {x, Shape{0, 0}, Shape{4, 3}, Shape{1, 1}}), high = prim("prims.slice", {x, Shape{0, 3}, Shape{4, 7}, Shape{1, 1}});
  Var turned = maker.call("prims.cat", {ValueList{high.id, low.id}, 1});
  prim("prims.mul", {prim("prims.sin", {x}), turned});
  EXPECT_EQ(refusal(), "");
}

// Both parts are as long as one loop, of which the other would need as many again.
TEST_F(Groups, reject_concatenation_of_values_with_different_loops) {
  Var x = prim("prims.exp", {input({4, 7})}), y = prim("prims.exp", {input({4, 9})});
  Var low = prim("prims.slice", {x, Shape{0, 0}, Shape{4, 3}, Shape{1, 1}}), high = prim("prims.slice", {y, Shape{0, 0}, Shape{4, 3}, Shape{1, 1}});
  prim("prims.mul", {low, high});
  EXPECT_EQ(refusal(), "it is iterated by other loops than the rest of the group");
}

TEST_F(Groups, reject_slicing_along_the_rows_of_a_reduction) {
  Var x = prim("prims.exp", {input({4, 7})});
  Var total = prim("prims.expand", {prim("prims.reshape", {prim("prims.sum", {x, Shape{1}}), Shape{4, 1}}), Shape{4, 7}});
  prim("prims.slice", {prim("prims.mul", {x, total}), Shape{1, 0}, Shape{4, 7}, Shape{1, 1}});
  EXPECT_EQ(refusal(), "it slices rows that the group reduces");
}

TEST_F(Groups, reject_reducing_a_slice) {
  Var x = prim("prims.exp", {input({4, 7})});
  prim("prims.sum", {prim("prims.slice", {x, Shape{0, 2}, Shape{4, 7}, Shape{1, 1}}), Shape{0}});
  EXPECT_EQ(refusal(), "it reduces a slice of an axis that the group iterates as a whole");
}

// The sum of the columns of a part would be added once for each part.
TEST_F(Groups, reject_column_sums_of_a_slice) {
  Var x = prim("prims.exp", {input({4, 5})}), y = maker.call("prims.cat", {ValueList{x.id, input({4, 5}).id}, 1});
  prim("prims.sum", {y, Shape{1}});
  prim("prims.sum", {x, Shape{0}});
  EXPECT_EQ(refusal(), "it reduces other axes than the rest of the group");
}

// Adding `b` makes the axes of x one, which would read its diagonal.
TEST_F(Groups, reject_reductions_along_a_diagonal) {
  Var v = prim("prims.exp", {input({4})}), x = input({4, 4});
  prim("prims.amax", {v, Shape{0}});
  Var b = prim("prims.sum", {x, Shape{1}});
  Group group(store(), capabilities());
  EXPECT_TRUE(group.add(*lines()[0]) && group.add(*lines()[1]) && group.extend(*lines()[2]));
  prim("prims.add", {v, b});
  EXPECT_FALSE(group.add(*lines()[3]));
  EXPECT_EQ(group.rejection_reason(), "it reads the same value along two different axes at once");
}

// The sum of columns becomes one along the rows when `c` makes rows and columns one.
TEST_F(Groups, reject_nodes_that_change_the_axes_of_an_earlier_sum) {
  Var x = prim("prims.exp", {input({4})}), y = prim("prims.sin", {input({4})});
  prim("prims.amax", {x, Shape{0}});
  prim("prims.sum", {y, Shape{}});
  Group group(store(), capabilities());
  for (const Node* line : lines()) EXPECT_TRUE(group.extend(*line)) << group.rejection_reason();
  prim("prims.add", {x, y});
  EXPECT_FALSE(group.add(*lines().back()));
  EXPECT_EQ(group.rejection_reason(), "it reduces other axes than the rest of the group");
}

TEST_F(Groups, reject_more_axes_than_a_nest_may_have) {
  Var source = input({4, 5}, DType::i64), at = input({4, 1}, DType::i64);
  for (int i = 0; i < 70; i++) at = prim("prims.gather", {source, 1, at});
  EXPECT_EQ(refusal(), "it needs more loops than a kernel may have");
}

TEST_F(Groups, reject_random_draws_from_a_computed_state) {
  Var state = prim("prims.add", {input({2}, DType::i64), input({2}, DType::i64)});
  prim("prims.philox_uniform", {state, 0, Shape{2}, DType::f32});
  EXPECT_EQ(refusal(), "it draws from a state that the group computes");
}

TEST_F(Groups, reject_more_nodes_than_a_kernel_may_have) {
  Var x = input({4});
  for (int i = 0; i < 97; i++) x = prim("prims.neg", {x});
  EXPECT_EQ(refusal(), "the group has as many nodes as one kernel may have");
}

TEST_F(Groups, cannot_compute_empty_tensors_and_maxima_of_integers) {
  const auto last_is_computable = [&] { return is_computable(*lines().back(), store(), capabilities()); };
  prim("prims.exp", {input({3})});
  EXPECT_TRUE(last_is_computable());
  prim("prims.neg", {input({0, 3})});
  EXPECT_FALSE(last_is_computable());
  prim("prims.matmul", {input({2, 2}), input({2, 2})});
  EXPECT_FALSE(last_is_computable());
  prim("prims.amax", {input({3}, DType::i32), Shape{0}});
  EXPECT_FALSE(last_is_computable());
}

}  // namespace
}  // namespace thunder::fusion
