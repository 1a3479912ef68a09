#include "jit/reports/phases.h"

#include <gtest/gtest.h>

#include "passes/grad.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;

std::vector<std::string> named(const std::vector<Phase>& all) {
  std::vector<std::string> out;
  for (Phase p : all) out.push_back(name(p));
  return out;
}

TEST(Phases, are_of_no_part_without_gradients) {
  TraceMaker m;
  const Var x = m.input("x", {3});
  const Trace t = m.finish({m.call("prims.exp", {x})});
  EXPECT_EQ(named(phases(t, t)), std::vector<std::string>{""});
}

TEST(Phases, divide_a_step_into_what_gradients_are_of_what_they_take_and_what_is_written) {
  const Dim kAll[] = {0};
  TraceMaker m;
  const Var x = m.input("x", {3});
  const Var loss = m.call("prims.sum", {m.call("prims.exp", {x}), Arg::dims(kAll)});
  const Var gradient = m.recorder.var(m.recorder.store().add(x.type()));
  const Var moved = m.call("prims.sub", {x, gradient});
  const Var beside = m.call("prims.neg", {x});  // no gradient reads it
  Trace written = m.finish({loss, beside});
  written.writes = {{0, moved.id}};
  const ValueId of[] = {x.id}, made[] = {gradient.id};
  const Arg args[] = {Arg::value(loss.id), Arg::values(of)};
  const Node* grad = m.recorder.store().node(&m.registry.get("grad"), args, made, {}, nullptr);
  written.nodes.insert(written.nodes.begin() + 2, grad);  // behind the loss
  const auto last = expand_gradients(written, m.registry);
  ASSERT_TRUE(last);
  const std::vector<std::string> parts = named(phases(written, *last));
  ASSERT_EQ(parts.size(), last->nodes.size());
  for (size_t i = 0; i < parts.size(); i++) {
    const std::string_view op = last->nodes[i]->op->name();
    const bool update = op == "prims.sub", forward = op == "prims.exp" || op == "prims.sum" || op == "prims.neg";
    EXPECT_EQ(parts[i], update ? "update" : forward ? "forward" : "backward") << op;
  }
  EXPECT_GE(parts.size(), 5u) << "the gradient is a line of its own";
}

}  // namespace
}  // namespace thunder
