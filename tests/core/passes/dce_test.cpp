#include "passes/dce.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;

TEST(Dce, keeps_what_writes_need) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var y = m.call("prims.neg", {x});
  m.call("prims.neg", {y});
  Trace t = m.finish({});
  t.writes = {{0, y.id}};
  PassContext context{m.registry};
  auto after = dce(t, context);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->nodes.size(), 1u);
  verify(*after);
}

TEST(Dce, keeps_lines_with_effects) {
  TraceMaker m;
  Var x = m.input("x", {3});
  m.call("prims.neg", {x});
  const_cast<OpDef&>(m.registry.get("prims.neg")).pure = false;
  m.call("neg", {x});  // its decomposition has the effect
  PassContext context{m.registry};
  EXPECT_FALSE(dce(m.finish({x}), context));
}

TEST(Dce, follows_what_a_decomposition_reads_beyond_its_arguments) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var hidden = m.call("prims.neg", {x});
  Var y = m.call("neg", {x});
  Trace t = m.finish({y});
  // As a user's decomposition that captured a value would be recorded.
  const Arg args[] = {Arg::value(hidden.id)};
  const Node* inner = t.store->node(&m.registry.get("prims.neg"), args, t.nodes[1]->results, {}, nullptr);
  t.nodes[1] = t.store->node(t.nodes[1]->op, t.nodes[1]->args, t.nodes[1]->results, {&inner, 1}, nullptr);
  verify(t);
  PassContext context{m.registry};
  EXPECT_FALSE(dce(t, context));
}

}  // namespace
}  // namespace thunder
