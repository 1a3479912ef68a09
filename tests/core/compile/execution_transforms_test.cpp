// What an executor puts in place of lines before gradients are taken.
#include "compile/execution_transforms.h"

#include <gtest/gtest.h>

#include "support/traces.h"
#include "tracer/compile_settings.h"

namespace thunder {
namespace {

KernelPtr prepare(const NodeView&, void*) { return nullptr; }

bool square_root(const NodeView&, BuilderScope& scope, Results& results, void*) {
  const ValueId argument = 0;
  results = {scope.builder().call("sqrt", {scope.builder().var(argument)}).id};
  return true;
}
bool sum(const NodeView&, BuilderScope& scope, Results& results, void*) {
  results = {scope.builder().call("sum", {scope.builder().var(0)}).id};
  return true;
}
bool nothing(const NodeView&, BuilderScope&, Results&, void*) { return false; }

std::optional<Trace> transformed(bool (*with)(const NodeView&, BuilderScope&, Results&, void*), bool first_has_none = false) {
  tests::TraceMaker m;
  Var x = m.input("x", {2});
  const Trace trace = m.finish({m.call("neg", {m.call("exp", {x})})});
  ScopeEnvironment environment;
  environment.registry = &m.registry;
  Executors executors;
  if (first_has_none) executors.push_back(make<Executor>(ExecutorDesc{.name = "first", .ops = {"exp"}, .prepare = prepare}));
  executors.push_back(make<Executor>(ExecutorDesc{.name = "mine", .ops = {"exp"}, .prepare = prepare, .execution_transform = with}));
  auto made = apply_execution_transforms(trace, executors, environment, default_settings());
  if (made) {
    EXPECT_EQ(made->nodes.size(), 2u);
    EXPECT_EQ(made->nodes[0]->op->name(), "sqrt");
    EXPECT_EQ(made->nodes[1]->args[0].v, made->nodes[0]->results[0]);
  }
  return made;
}

TEST(ExecutionTransforms, replace_nodes_that_the_executor_claims) { EXPECT_TRUE(transformed(square_root)); }
TEST(ExecutionTransforms, keep_nodes_that_the_executor_does_not_replace) { EXPECT_FALSE(transformed(nothing)); }
TEST(ExecutionTransforms, ask_the_first_executor_that_claims_the_node) { EXPECT_FALSE(transformed(square_root, true)); }
TEST(ExecutionTransforms, reject_results_of_other_types) {
  try {
    transformed(sum);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the execution transform of executor 'mine' for exp: result 1 is f32[], the op's is f32[2]");
  }
}

}  // namespace
}  // namespace thunder
