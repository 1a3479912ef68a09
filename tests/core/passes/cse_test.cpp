// Also covers rewrite: substitution, replacement and what is kept.
// covers: bindings/lua/kept.c core/passes/rewrite.cpp
#include "passes/cse.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;

TEST(Cse, substitutes_inside_decompositions) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var a = m.call("neg", {x}), b = m.call("neg", {x});
  Var y = m.call("add", {a, b});
  PassContext context{m.registry};
  auto after = cse(m.finish({y, b}), context);
  ASSERT_TRUE(after);
  verify(*after);
  EXPECT_NE(print(*after, {.bodies = true}).find("  t[2] = add(t[1], t[1])  -- f32[3]\n"
                                                 "  --  t[2] = prims.add(t[1], t[1])  -- f32[3]\n"
                                                 "  return t[2], t[1]\n"),
            std::string::npos)
      << print(*after, {.bodies = true});
}

TEST(Cse, leaves_the_first_trace_as_it_was) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Trace t = m.finish({m.call("add", {m.call("neg", {x}), m.call("neg", {x})})});
  const std::string before = print(t);
  PassContext context{m.registry};
  ASSERT_TRUE(cse(t, context));
  EXPECT_EQ(print(t), before);
}

TEST(Cse, keeps_composites_whose_decompositions_read_different_values) {
  TraceMaker m;
  Var x = m.input("x", {3});
  Var one = m.call("prims.neg", {x}), two = m.call("prims.add", {x, x});
  m.call("neg", {x}), m.call("neg", {x});
  Trace t = m.finish({});
  for (size_t i : {2, 3}) {
    const Arg args[] = {Arg::value(i == 2 ? one.id : two.id)};
    const Node* inner = t.store->node(&m.registry.get("prims.neg"), args, t.nodes[i]->results, {}, nullptr);
    t.nodes[i] = t.store->node(t.nodes[i]->op, t.nodes[i]->args, t.nodes[i]->results, {&inner, 1}, nullptr);
  }
  verify(t);
  PassContext context{m.registry};
  EXPECT_FALSE(cse(t, context));
}

TEST(Cse, keeps_lines_that_are_not_pure) {
  TraceMaker m;
  Var x = m.input("x", {3});
  const_cast<OpDef&>(m.registry.get("prims.neg")).pure = false;
  Var a = m.call("prims.neg", {x}), b = m.call("prims.neg", {x});
  PassContext context{m.registry};
  EXPECT_FALSE(cse(m.finish({a, b}), context));
}

TEST(Cse, tells_zero_from_minus_zero) {
  TraceMaker m;
  Var a = full(m.recorder, {}, 0.0, DType::f32), b = full(m.recorder, {}, -0.0, DType::f32);
  PassContext context{m.registry};
  EXPECT_FALSE(cse(m.finish({a, b}), context));
}

}  // namespace
}  // namespace thunder
