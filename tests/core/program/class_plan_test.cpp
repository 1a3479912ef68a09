// The plan of memory that programs of a class of sizes share: formulas that give for each size what planning for this
// size alone gives, and the conditions under which they do.
// covers: core/program/plan_formulas.cpp
// covers: core/program/plan_formulas.cpp
#include "program/class_plan.h"

#include <gtest/gtest.h>

#include "ir/symbolic/substitution.h"
#include "support/function_kernel.h"
#include "support/traces.h"

namespace thunder::test {
namespace {

using namespace thunder::tests;

class NoViewKernels : public ViewKernels {
 public:
  bool takes_strided(const Node&) const override { return true; }
  KernelPtr prepare(const Node&, const Store&) const override { return nullptr; }
};

Status* do_nothing(const Launch*, void*) { return nullptr; }

// A kernel for each line that is no view.
Kernels kernels_of(const Trace& trace, uint32_t flags = 0) {
  Kernels out(std::make_unique<NoViewKernels>());
  for (const Node* n : trace.nodes) {
    if (def(*n).view) continue;
    auto kernel = std::make_unique<FunctionKernel>(KernelCall{do_nothing, nullptr});
    kernel->add_flags(flags);
    out.add(*n, std::move(kernel));
  }
  return out;
}

InputLayouts dense_inputs(const Trace& trace) {
  InputLayouts out{{}, std::vector<bool>(trace.inputs.size())};
  for (const Input& in : trace.inputs) out.strides.push_back(dense_strides(trace.type(in.value).shape));
  return out;
}

Trace with_size(const Trace& trace, int64_t size) {
  Substitution sizes({Dim(size)});
  return Specialisation(trace.store, sizes)(trace);
}

std::string describe(const Plan& plan) {
  std::string out = cat("arena ", plan.arenas[0].bytes, ", constants ", plan.arenas[0].constant_bytes, "\n");
  for (const BufferPlan& b : plan.buffers) {
    append(out, cat(static_cast<int>(b.place), " ", b.index, " at ", b.offset, ":"));
    for (int32_t i = 0; i < 2 * b.rank; i++) append(out, cat(" ", plan.layouts[b.layout + static_cast<uint32_t>(i)]));
    out += "\n";
  }
  for (const Step& s : plan.steps) append(out, cat(s.line, " ", s.first, " ", s.n_inputs, " ", s.n_outputs, "\n"));
  for (const ArenaSlot& s : plan.slots) append(out, cat(s.value, " at ", s.offset, ", ", s.bytes, "\n"));
  return out;
}

struct ClassPlans : ::testing::Test {
  TraceMaker maker;
  const Dim n = maker.trace.store->dims().symbol(8);

  // Views, a copy of strided memory, values of several times, and two equal layers.
  Trace program() {
    Var x = maker.input("x", {n, 6}), y = x;
    for (int i = 0; i < 2; i++) {
      Var turned = maker.call("prims.permute", {maker.call("prims.exp", {y}), Shape{1, 0}});
      Var row = maker.call("prims.slice", {turned, Shape{1, 0}, Shape{3, n}, Shape{1, 1}});
      Var sums = maker.call("prims.sum", {row, Shape{0}});
      Var wide = maker.call("prims.expand", {maker.call("prims.reshape", {sums, Shape{n, 1}}), Shape{n, 6}});
      y = maker.call("prims.mul", {y, wide});
    }
    return maker.finish({y, maker.call("prims.neg", {maker.call("prims.reshape", {y, Shape{n * 6}})})});
  }

  // The plan of the class for a size.
  static std::string shared(ClassPlan& plan, const Trace& lines, int64_t size) {
    const std::vector<int64_t> symbols = {size};
    const Trace sized = with_size(lines, size);
    const std::optional<Plan> made = plan.plan_for(symbols, dense_inputs(sized));
    return made ? describe(*made) : cat("none for ", size);
  }
  static std::string alone(const Trace& lines, int64_t size, uint32_t flags) {
    const Trace sized = with_size(lines, size);
    return describe(plan_formulas(sized, dense_inputs(sized), kernels_of(sized, flags), {}).plan(sized.nodes, {}));
  }
  static ClassPlan derived(const Trace& lines, int64_t size, uint32_t flags) {
    ClassPlan plan(lines);
    const Trace sized = with_size(lines, size);
    Kernels kernels = kernels_of(sized, flags);
    plan.derive(sized, std::vector<int64_t>{size}, dense_inputs(sized), kernels, {});
    return plan;
  }
};

TEST_F(ClassPlans, give_what_planning_for_each_size_alone_gives) {
  const Trace lines = program();
  constexpr uint32_t kKinds[] = {0, kStrided, kStrided | kInPlace};
  for (const uint32_t flags : kKinds) {
    ClassPlan plan = derived(lines, 8, flags);
    for (const int64_t size : {8, 2, 3, 64, 1000})
      EXPECT_EQ(shared(plan, lines, size), alone(lines, size, flags)) << size;
  }
}

TEST_F(ClassPlans, do_not_hold_where_a_decision_would_be_another) {
  const Trace lines = program();
  const ClassPlan plan = derived(lines, 8, kStrided);
  const Trace one = with_size(lines, 1);
  EXPECT_FALSE(plan.plan_for(std::vector<int64_t>{1}, dense_inputs(one))) << "an axis of one element has any stride";
  InputLayouts turned = dense_inputs(with_size(lines, 9));
  turned.strides[0] = {1, 9};
  EXPECT_FALSE(plan.plan_for(std::vector<int64_t>{9}, turned));
  InputLayouts donated = dense_inputs(with_size(lines, 9));
  donated.donated[0] = true;
  EXPECT_FALSE(plan.plan_for(std::vector<int64_t>{9}, donated));
}

TEST_F(ClassPlans, suit_kernels_that_answer_as_those_that_they_were_made_for) {
  const Trace lines = program(), sized = with_size(lines, 9);
  const ClassPlan plan = derived(lines, 8, kStrided);
  const std::optional<Plan> made = plan.plan_for(std::vector<int64_t>{9}, dense_inputs(sized));
  ASSERT_TRUE(made);
  EXPECT_TRUE(plan.suits(*made, kernels_of(sized, kStrided), sized));
  EXPECT_FALSE(plan.suits(*made, kernels_of(sized, kStrided | kMayFail), sized));
}

TEST_F(ClassPlans, give_equal_layers_one_kernel_where_their_tensors_lie_alike) {
  const Trace lines = program();
  const ClassPlan plan = derived(lines, 8, kStrided);
  std::vector<uint32_t> exps;
  for (uint32_t i = 0; i < lines.nodes.size(); i++)
    if (lines.nodes[i]->op->name() == "prims.exp") exps.push_back(i);
  ASSERT_EQ(exps.size(), 2u);
  EXPECT_EQ(plan.leaders()[exps[1]], exps[0]);
  EXPECT_EQ(plan.leaders()[exps[0]], exps[0]);
}

TEST_F(ClassPlans, give_no_line_the_kernel_of_one_whose_tensors_lie_otherwise) {
  Var x = maker.input("x", {n, n});
  Var dense = maker.call("prims.exp", {x});
  Var turned = maker.call("prims.exp", {maker.call("prims.permute", {x, Shape{1, 0}})});
  const Trace lines = maker.finish({dense, turned});
  const ClassPlan plan = derived(lines, 8, kStrided);
  EXPECT_EQ(plan.alike()[2], 0u) << "the lines are alike";
  EXPECT_EQ(plan.leaders()[2], 2u);
}

}  // namespace
}  // namespace thunder::test
