#include "passes/materialize.h"

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;

// What makes each result afterwards.
std::vector<std::string> makers(TraceMaker& m, const Trace& t) {
  PassContext context{m.registry};
  const auto made = materialize(t, context);
  const Trace& after = made ? *made : t;
  verify(after);
  std::vector<std::string> names;
  for (ValueId v : after.outputs) {
    names.emplace_back("input");
    for (const Node* n : after.nodes)
      if (n->results[0] == v) names.back() = n->op->name();
  }
  return names;
}

TEST(Materialize, copies_arguments_and_parts_of_them) {
  TraceMaker m;
  Var x = m.input("x", {2, 3});
  Var part = m.call("prims.slice", {x, Shape{0, 0}, Shape{1, 3}, Shape{1, 1}});
  EXPECT_EQ(makers(m, m.finish({x, part})), (std::vector<std::string>{"prims.clone", "prims.clone"}));
}

// Turned round and under another shape, which alone would be a copy too.
TEST(Materialize, copies_once_and_gives_the_copy_its_shape) {
  TraceMaker m;
  Var turned = m.call("prims.permute", {m.input("x", {2, 3}), Shape{1, 0}});
  Var flat = m.call("prims.reshape", {m.call("prims.contiguous", {turned}), Shape{6}});
  Trace t = m.finish({flat});
  EXPECT_EQ(makers(m, t), (std::vector<std::string>{"prims.reshape"}));
  PassContext context{m.registry};
  const Trace after = *materialize(t, context);
  const Node *reshape = after.nodes.back(), *clone = after.nodes[after.nodes.size() - 2];
  EXPECT_EQ(clone->op->name(), "prims.clone");
  EXPECT_EQ(clone->args[0].v, turned.id);
  EXPECT_EQ(reshape->args[0].v, clone->results[0]);
}

TEST(Materialize, copies_what_was_computed_in_another_order) {
  TraceMaker m;
  Var y = m.call("prims.neg", {m.input("x", {2, 3})});
  Var turned = m.call("prims.permute", {y, Shape{1, 0}});
  EXPECT_EQ(makers(m, m.finish({turned, y})), (std::vector<std::string>{"prims.clone", "prims.neg"}));
}

TEST(Materialize, leaves_computed_memory_under_another_shape) {
  TraceMaker m;
  Var y = m.call("prims.neg", {m.input("x", {2, 3})});
  Var flat = m.call("prims.reshape", {y, Shape{6}});
  EXPECT_EQ(makers(m, m.finish({y, flat})), (std::vector<std::string>{"prims.neg", "prims.reshape"}));
}

}  // namespace
}  // namespace thunder
