// Which lines of a trace become one kernel.
#include "executors/fusion/grow.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

struct Grow : LinesTest {
  void SetUp() override {
    if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  }
};

TEST_F(Grow, adds_nodes_that_read_the_group) {
  Var a = prim("prims.exp", {input({8})}), b = prim("prims.neg", {a}), c = prim("prims.abs", {a});
  EXPECT_EQ(claimed({b, c}), "[exp neg abs]");
}

TEST_F(Grow, skips_unrelated_nodes) {
  Var a = prim("prims.exp", {input({8})}), b = prim("prims.neg", {input({8})});
  EXPECT_EQ(claimed({prim("prims.abs", {a}), prim("prims.abs", {b})}), "[exp abs] [neg abs]");
}

TEST_F(Grow, adds_producers_that_a_consumer_needs) {
  Var x = input({8}), y = input({8});
  Var a = prim("prims.exp", {x}), b = prim("prims.sin", {y});
  EXPECT_EQ(claimed({prim("prims.add", {a, b})}), "[exp sin add]");
}

// As the derivative of a GELU, which stands between the gradient and the product that reads both.
TEST_F(Grow, adds_a_chain_of_producers) {
  Var g = prim("prims.neg", {input({8})}), x = input({8});
  for (int i = 0; i < 20; i++) x = prim("prims.sin", {x});
  const std::string all = claimed({prim("prims.mul", {g, x})});
  EXPECT_EQ(all.find("] ["), std::string::npos) << all;
}

TEST_F(Grow, forms_one_group_of_a_softmax) {
  Var x = input({4, 8}), shape = maker.call("softmax", {x, 1});
  EXPECT_EQ(claimed({shape}), "[amax reshape expand sub exp sum reshape reciprocal expand mul]");
}

TEST_F(Grow, drops_views_that_the_group_does_not_read) {
  Var a = prim("prims.exp", {input({4, 8})}), b = prim("prims.neg", {a}), c = prim("prims.reshape", {b, Shape{8, 4}});
  EXPECT_EQ(claimed({c}), "[exp neg] reshape");
}

TEST_F(Grow, never_begins_with_a_view) {
  Var a = prim("prims.permute", {input({4, 8}), Shape{1, 0}});
  EXPECT_EQ(claimed({prim("prims.exp", {prim("prims.neg", {a})})}), "permute [neg exp]");
}

TEST_F(Grow, reads_views_of_inputs_through_their_strides) {
  Var b = prim("prims.expand", {input({8}), Shape{4, 8}});
  EXPECT_EQ(claimed({prim("prims.add", {prim("prims.exp", {input({4, 8})}), b})}), "expand [exp add]");
}

TEST_F(Grow, ends_at_a_column_sum) {
  Var a = prim("prims.exp", {input({4, 8})}), rows = prim("prims.amax", {a, Shape{1}}),
      columns = prim("prims.sum", {a, Shape{0}});
  EXPECT_EQ(claimed({rows, prim("prims.neg", {columns})}), "[exp amax sum] neg");
}

TEST_F(Grow, adds_reductions_of_operands_that_the_group_reads) {
  Var x = input({128, 256}), y = input({128, 256});
  EXPECT_EQ(claimed({prim("prims.exp", {x}), prim("prims.sum", {prim("prims.mul", {x, y}), Shape{0}}),
                     prim("prims.sum", {x, Shape{0}})}),
            "[exp mul sum sum]");
}

// What a later line would read of it could as well be computed there.
TEST_F(Grow, skips_nodes_that_share_an_operand_but_add_a_large_output) {
  Var x = input({128, 128}), y = input({128, 128}), a = prim("prims.exp", {x}), m = prim("prims.matmul", {a, y}),
      b = prim("prims.mul", {x, y});
  EXPECT_EQ(claimed({prim("prims.add", {m, b})}), "exp matmul [mul add]");
}

TEST_F(Grow, leaves_horizontal_fusion_to_join_siblings) {
  Var x = input({128, 256}), y = input({128, 256});
  EXPECT_EQ(claimed({prim("prims.exp", {x}), prim("prims.mul", {x, y})}), "[exp mul]");
}

TEST_F(Grow, does_not_fuse_across_a_matrix_product) {
  Var a = prim("prims.neg", {prim("prims.exp", {input({4, 4})})}), m = prim("prims.matmul", {a, a});
  EXPECT_EQ(claimed({prim("prims.abs", {prim("prims.exp", {m})})}), "[exp neg] matmul [exp abs]");
}

TEST_F(Grow, forms_one_group_of_a_norm_of_one_row) {
  Var x = input({1, 64}),
      sum = prim("prims.reshape", {prim("prims.sum", {prim("prims.exp", {x}), Shape{1}}), Shape{1, 1}});
  EXPECT_EQ(claimed({prim("prims.div", {x, prim("prims.expand", {sum, Shape{1, 64}})})}),
            "[exp sum reshape expand div]");
}

// The total is needed for what the rest of the kernel needs: computed before it, from rows of its own.
TEST_F(Grow, excludes_nodes_on_a_cycle_through_a_total) {
  Var x = input({4, 8}), top = prim("prims.amax", {x, Shape{1}});
  Var weight = prim("prims.exp", {input({4})}), total = prim("prims.sum", {weight, Shape{}});
  Var rows = prim("prims.mul", {top, weight}),
      all = prim("prims.expand", {prim("prims.reciprocal", {total}), Shape{4}});
  EXPECT_EQ(claimed({prim("prims.mul", {rows, all})}), "[exp sum] reciprocal expand [amax mul mul]");
}

TEST_F(Grow, stops_at_a_total_that_its_first_node_feeds) {
  Var y = prim("prims.exp", {input({4, 8})}), total = prim("prims.sum", {y, Shape{}});
  Var all = prim("prims.expand", {prim("prims.reciprocal", {total}), Shape{4, 8}});
  EXPECT_EQ(claimed({prim("prims.neg", {prim("prims.mul", {y, all})})}), "[exp sum] reciprocal expand [mul neg]");
}

// As many inputs as there are: a kernel has no fewer arguments than its lines may have.
TEST_F(Grow, accepts_as_many_inputs_as_nodes) {
  Var sum = prim("prims.neg", {input({8})});
  for (int i = 0; i < 95; i++) sum = prim("prims.add", {sum, input({8})});
  const Trace trace = maker.finish({sum});
  std::vector<uint8_t> taken(trace.nodes.size());
  std::shared_ptr<Group> group;
  EXPECT_TRUE(grow(trace.nodes, store(), capabilities(), taken, group));
  EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), 96);
}

// What grew in an order of its own is one group also in the trace's order, in which it is compiled.
TEST_F(Grow, result_is_a_group_in_trace_order) {
  Var r = prim("prims.exp", {input({4})}), total = prim("prims.sum", {r, Shape{}});
  Var rows = prim("prims.sum", {prim("prims.neg", {input({4, 8})}), Shape{1}}), c = prim("prims.add", {r, rows});
  const Trace trace = maker.finish({total, c});
  std::vector<uint8_t> taken(trace.nodes.size());
  std::shared_ptr<Group> grown;
  ASSERT_TRUE(grow(trace.nodes, store(), capabilities(), taken, grown));
  Group group(store(), capabilities());
  std::vector<const Node*> lines;
  for (size_t i = 0; i < taken.size(); i++)
    if (taken[i]) lines.push_back(trace.nodes[i]);
  EXPECT_TRUE(group.add_all(lines)) << group.rejection_reason();
  ASSERT_NE(grown, nullptr);
  EXPECT_EQ(grown->nodes(), lines);
}

}  // namespace
}  // namespace thunder::fusion
