#include "passes/verify_types.h"

#include <gtest/gtest.h>

#include "support/traces.h"

namespace thunder {
namespace {

TEST(VerifyTypes, accepts_what_the_ops_gave) {
  tests::TraceMaker m;
  Var x = m.input("x", {4, 2});
  const Trace trace = m.finish({m.call("softmax", {m.call("mul", {x, 2.0}), -1})});
  EXPECT_NO_THROW(verify_types(trace, m.registry));
  EXPECT_EQ(trace.nodes.size(), 2u);
}

TEST(VerifyTypes, finds_a_result_of_another_type_inside_a_line) {
  tests::TraceMaker m;
  Var x = m.input("x", {4, 2});
  Trace t = m.finish({m.call("neg", {x})});
  const ValueId wrong = t.store->add(tests::tensor_type({4, 3}));
  const Node* inner = t.store->node(t.nodes[0]->body[0]->op, t.nodes[0]->args, {&wrong, 1}, {}, nullptr);
  t.nodes[0] = t.store->node(t.nodes[0]->op, t.nodes[0]->args, {&wrong, 1}, {&inner, 1}, nullptr);
  t.outputs = {wrong};
  try {
    verify_types(t, m.registry);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "internal error, please report it: after trace, line 1, t[1] = neg(i[1]): prims.neg gives f32[4, 2], the line says f32[4, 3]");
  }
}

TEST(VerifyTypes, finds_arguments_that_an_op_refuses) {
  tests::TraceMaker m;
  Var x = m.input("x", {4, 2}), y = m.input("y", {3});
  const ValueId out = m.trace.store->add(x.type());
  const Arg args[] = {Arg::value(x.id), Arg::value(y.id)};
  m.recorder.nodes().push_back(m.trace.store->node(&m.registry.get("prims.add"), args, {&out, 1}, {}, nullptr));
  EXPECT_THROW(verify_types(m.finish({}), m.registry), Error);
}

}  // namespace
}  // namespace thunder
