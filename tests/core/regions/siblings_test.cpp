// Which kernels become one though neither needs the other.
#include "regions/siblings.h"

#include "ir/verify.h"
#include "support/functions.h"
#include "support/pieces.h"
#include "support/regions.h"
#include "support/traces.h"

namespace thunder::test {
namespace {

using Lines = std::vector<std::string>;

struct Siblings : testing::Test {
  tests::TraceMaker maker;
  Pieces choice{.fits = [](std::span<const Node* const>) { return true; }};

  Lines joined(std::initializer_list<Var> outputs) {
    const Ref<Executor> executor = pieces_executor(choice);
    Trace trace = claimed_by(*executor, maker.finish(outputs));
    RegionStates states;
    merge_siblings(trace, {executor}, maker.registry.get("region"), states);
    verify(trace);
    return tests::ops_of_lines(trace);
  }
  Var prim(std::string_view op, std::initializer_list<In> args) { return maker.call(op, args); }
};

TEST_F(Siblings, share_an_operand) {
  Var x = maker.input("x", {2, 3}), y = maker.input("y", {2, 3});
  Var a = prim("prims.sin", {x}), b = prim("prims.neg", {y}), c = prim("prims.cos", {x}), d = prim("prims.add", {x, y});
  EXPECT_EQ(joined({a, b, c, d}), (Lines{"sin cos neg add"}));
}

TEST_F(Siblings, load_the_shared_operand_once_and_keep_all_results) {
  Var x = maker.input("x", {2, 3}), y = maker.input("y", {2, 3});
  Var a = prim("prims.mul", {x, y}), b = prim("prims.sub", {y, x});
  const Ref<Executor> executor = pieces_executor(choice);
  Trace trace = claimed_by(*executor, maker.finish({b, a}));
  RegionStates states;
  merge_siblings(trace, {executor}, maker.registry.get("region"), states);
  ASSERT_EQ(trace.nodes.size(), 1u);
  EXPECT_EQ(std::vector<ValueId>(trace.nodes[0]->results.begin(), trace.nodes[0]->results.end()),
            (std::vector<ValueId>{a.id, b.id}));
  const auto inputs = trace.nodes[0]->args[0].value_list();
  EXPECT_EQ(std::vector<ValueId>(inputs.begin(), inputs.end()), (std::vector<ValueId>{x.id, y.id}));
}

TEST_F(Siblings, are_not_joined_if_one_depends_on_the_other) {
  Var x = maker.input("x", {2, 3});
  Var a = prim("prims.sin", {x}), v = prim("prims.permute", {a, Shape{1, 0}}),
      w = prim("prims.permute", {v, Shape{1, 0}}), b = prim("prims.add", {x, w});
  EXPECT_EQ(joined({b}), (Lines{"sin", "permute", "permute", "add"}));
}

TEST_F(Siblings, follow_their_producers_and_precede_their_consumers) {
  Var x = maker.input("x", {2, 3}), y = maker.input("y", {3, 2});
  Var a = prim("prims.sin", {x}), v = prim("prims.permute", {a, Shape{1, 0}}),
      w = prim("prims.permute", {y, Shape{1, 0}}), b = prim("prims.add", {x, w});
  EXPECT_EQ(joined({v, b}), (Lines{"permute", "sin add", "permute"}));
}

TEST_F(Siblings, are_not_joined_across_other_computations) {
  Var x = maker.input("x", {2, 2});
  Var a = prim("prims.sin", {x}), m = prim("prims.matmul", {x, x}), b = prim("prims.cos", {x});
  EXPECT_EQ(joined({a, m, b}), (Lines{"sin", "matmul", "cos"}));
}

TEST_F(Siblings, are_not_joined_for_small_or_broadcast_operands) {
  Var x = maker.input("x", {2, 3}), y = maker.input("y", {2, 3}), row = maker.input("row", {1, 3}),
      one = maker.input("one", {});
  Var spread = prim("prims.expand", {row, Shape{2, 3}});
  Var a = prim("prims.mul", {x, spread}), b = prim("prims.mul", {y, spread});
  EXPECT_EQ(joined({a, b}), (Lines{"expand", "mul", "mul"}));
  Var c = prim("prims.sin", {one}), d = prim("prims.cos", {one});
  EXPECT_EQ(joined({a, b, c, d}), (Lines{"expand", "mul", "mul", "sin", "cos"}));
}

// Together they would be computed with every call.
TEST_F(Siblings, are_not_joined_if_only_one_is_frozen) {
  Var x = maker.input("x", {2, 3}), y = maker.input("y", {2, 3});
  maker.trace.inputs[0].frozen = true;
  Var a = prim("prims.sin", {x}), b = prim("prims.add", {x, y}), c = prim("prims.cos", {x});
  EXPECT_EQ(joined({a, b, c}), (Lines{"add", "sin cos"}));
}

// Of elementwise lines alone a result may lie in the memory of what it is of.
TEST_F(Siblings, are_not_joined_if_that_prevents_an_update_in_place) {
  Var x = maker.input("x", {2, 3}), y = maker.input("y", {2, 3});
  Var a = prim("prims.add", {x, y}), b = prim("prims.cumsum", {x, 1, false}), c = prim("prims.neg", {x});
  maker.trace.writes = {{0, a.id}};
  choice.claims_more = "prims.cumsum";
  EXPECT_EQ(joined({a, b, c}), (Lines{"cumsum", "add neg"}));
  maker.trace.writes.clear();
  EXPECT_EQ(joined({a, b, c}), (Lines{"add cumsum neg"}));
}

TEST_F(Siblings, are_joined_in_either_order) {
  choice.fits = [](std::span<const Node* const> nodes) { return nodes[0]->op->name() == "prims.cos"; };
  Var x = maker.input("x", {2, 3});
  Var a = prim("prims.sin", {x}), b = prim("prims.cos", {x});
  EXPECT_EQ(joined({a, b}), (Lines{"cos sin"}));
}

TEST_F(Siblings, are_not_joined_if_the_executor_rejects_it) {
  choice.fits = [](std::span<const Node* const> nodes) { return nodes.size() < 3; };
  Var x = maker.input("x", {2, 3});
  Var a = prim("prims.sin", {x}), b = prim("prims.cos", {x}), c = prim("prims.neg", {x});
  EXPECT_EQ(joined({a, b, c}), (Lines{"sin cos", "neg"}));
  choice.fits = nullptr;
  EXPECT_EQ(joined({a, b, c}).size(), 3u);
}

TEST_F(Siblings, take_time_linear_in_the_trace) {
  static size_t asked;
  asked = 0;
  choice.fits = [](std::span<const Node* const>) { return ++asked == 0; };
  Var x = maker.input("x", {2, 3});
  constexpr size_t kLines = 2000;
  for (size_t i = 0; i < kLines; i++) prim("prims.neg", {x});
  EXPECT_EQ(joined({x}).size(), kLines);
  EXPECT_GT(asked, kLines);
  EXPECT_LE(asked, 2 * 64 * kLines);
}

// Nothing of other executors is looked into.
TEST_F(Siblings, ignore_nodes_of_other_executors) {
  Var x = maker.input("x", {2, 3});
  Var a = prim("prims.sin", {x}), b = prim("prims.cos", {x});
  Trace trace = maker.finish({a, b});
  for (const Node*& n : trace.nodes) n = trace.store->claimed(n, "others");
  RegionStates states;
  merge_siblings(trace, {pieces_executor(choice)}, maker.registry.get("region"), states);
  EXPECT_EQ(trace.nodes.size(), 2u);
}

}  // namespace
}  // namespace thunder::test
