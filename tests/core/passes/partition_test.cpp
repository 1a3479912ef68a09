#include "passes/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/print.h"
#include "ir/verify.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;

size_t lines_of(const Trace& t, std::string_view op) {
  return static_cast<size_t>(std::count_if(t.nodes.begin(), t.nodes.end(), [op](auto n) { return n->op->name() == op; }));
}

Partition cut(TraceMaker& m, std::initializer_list<Var> outputs, size_t results, size_t cotangents) {
  Partition p = partition({m.finish(outputs), results, cotangents});
  verify(p.forward);
  verify(p.backward);
  return p;
}

TEST(Partition, saves_an_input_rather_than_what_is_made_of_it) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var c = m.input("c", {3});
  Var y = m.call("prims.exp", {x});
  Var z = m.call("prims.mul", {m.call("prims.neg", {x}), x});
  const Partition p = cut(m, {m.call("prims.add", {y, z}), m.call("prims.mul", {c, z})}, 1, 1);
  EXPECT_EQ(p.saved, std::vector<ValueId>{x.id});
  EXPECT_EQ(p.forward.outputs.size(), 1u);
  EXPECT_EQ(lines_of(p.backward, "prims.neg"), 1u);
}

TEST(Partition, saves_what_would_cost_more_than_reading_to_make_again) {
  TraceMaker m;
  Var x = m.input("x", {3, 3});
  Var c = m.input("c", {3, 3});
  Var y = m.call("prims.matmul", {x, x});
  const Partition p = cut(m, {m.call("prims.neg", {x}), m.call("prims.mul", {c, y})}, 1, 1);
  EXPECT_EQ(p.saved, std::vector<ValueId>{y.id});
  EXPECT_EQ(lines_of(p.forward, "prims.matmul"), 1u);
  EXPECT_EQ(lines_of(p.backward, "prims.matmul"), 0u);
}

TEST(Partition, saves_the_narrower_of_two_values) {
  TraceMaker m;
  Var x = m.input("x", {3, 3}, DType::bf16);
  Var c = m.input("c", {3, 3});
  Var narrow = m.call("prims.matmul", {x, x});
  Var wide = m.call("prims.convert", {narrow, DType::f32});
  const Partition p = cut(m, {m.call("prims.neg", {x}), m.call("prims.mul", {c, wide})}, 1, 1);
  EXPECT_EQ(p.saved, std::vector<ValueId>{narrow.id});
}

TEST(Partition, saves_a_result_for_nothing) {
  TraceMaker m;
  Var x = m.input("x", {3, 3});
  Var c = m.input("c", {3, 3});
  Var h = m.call("prims.matmul", {x, x});
  Var y = m.call("prims.exp", {h});
  const Partition p = cut(m, {y, m.call("prims.mul", {c, y})}, 1, 1);
  EXPECT_EQ(p.saved, std::vector<ValueId>{y.id});
  EXPECT_EQ(p.forward.outputs, std::vector<ValueId>{y.id});
}

TEST(Partition, leaves_gradients_out_that_depend_on_no_cotangent) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var c = m.input("c", {3});
  Var zero = full(m.recorder, Shape{3}, 0, DType::f32);
  const Partition p = cut(m, {m.call("prims.neg", {x}), zero, m.call("prims.mul", {c, x})}, 1, 1);
  EXPECT_EQ(p.gradients, std::vector<size_t>{1});
}

TEST(PartialBackward, of_cotangents_that_are_not_reached_has_no_lines) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var c = m.input("c", {3}), d = m.input("d", {3});
  Var of_c = m.call("prims.mul", {c, x}), of_d = m.call("prims.exp", {x});
  Var sum = m.call("prims.add", {of_c, m.call("prims.mul", {d, of_d})});
  const Partition p = cut(m, {m.call("prims.neg", {x}), m.call("prims.abs", {x}), sum, m.call("prims.neg", {d})}, 2, 2);
  const PartialBackward part = partial_backward(m.registry, p.backward, {true, false}, {true, true});
  verify(part.trace);
  EXPECT_EQ(part.outputs, std::vector<size_t>{0});
  EXPECT_EQ(part.trace.nodes.size(), 1u) << print(part.trace);
  EXPECT_EQ(part.trace.inputs.size(), 2u);
}

TEST(PartialBackward, reads_only_what_the_wanted_gradients_need) {
  TraceMaker m;
  Var x = m.input("x", {3}), y = m.input("y", {3});
  Var c = m.input("c", {3});
  Var dx = m.call("prims.mul", {c, y}), dy = m.call("prims.mul", {c, x});
  const Partition p = cut(m, {m.call("prims.mul", {x, y}), dx, dy}, 1, 1);
  const PartialBackward part = partial_backward(m.registry, p.backward, {true}, {false, true});
  verify(part.trace);
  ASSERT_EQ(part.saved.size(), 1u);
  EXPECT_EQ(p.saved[part.saved[0]], x.id);
}

TEST(PartialBackward, stands_zeros_where_a_line_needs_them) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var c = m.input("c", {3}), d = m.input("d", {3});
  Var both = m.call("prims.sub", {m.call("prims.neg", {d}), c});
  const Partition p = cut(m, {m.call("prims.neg", {x}), m.call("prims.abs", {x}), both}, 2, 2);
  const PartialBackward part = partial_backward(m.registry, p.backward, {true, false}, {true});
  verify(part.trace);
  EXPECT_EQ(lines_of(part.trace, "prims.full"), 1u) << print(part.trace);
  EXPECT_EQ(lines_of(part.trace, "prims.neg"), 0u);
}

}  // namespace
}  // namespace thunder
