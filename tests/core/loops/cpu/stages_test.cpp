// The lowering of a CPU's kernel is a table that says why each row stands where it stands, and can be read after each of them.
// covers: core/loops/cpu/target.cpp
#include "loops/cpu/stages.h"
#include "jit/reports/explain.h"

#include <set>

#include "core/executors/fusion/support.h"
#include "loops/cpu/target.h"
#include "program/report.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;

TEST(Stages, have_names_and_reasons) {
  std::set<std::string_view> names;
  for (const Stage& stage : cpu_stages()) {
    EXPECT_TRUE(names.insert(stage.name).second) << stage.name;
    EXPECT_FALSE(stage.why.empty()) << stage.name;
  }
  EXPECT_EQ(cpu_stages().back().name, "emit");
}

struct LoweringStages : FusedTest {
  static std::vector<Tensor*> softmax(Scope& s, In in) { return {call(s, "softmax", {arg(in[0]), arg(int64_t{1})})}; }
};

TEST_F(LoweringStages, are_printed_one_by_one) {
  const Trace trace = traced(softmax, {numbers({64, 500})});
  std::vector<std::string> seen;
  for (const Node* n : trace.nodes) {
    if (n->executor != std::string_view("fusion") || def(*n).view) continue;
    run_stages(lowered(*n, *trace.store), test::zen3(), Until::scheduled, [&](const Stage& stage, const CpuKernel& kernel) {
      seen.emplace_back(stage.name);
      if (stage.name == "hoist") { EXPECT_EQ(print(kernel).find("on a CPU"), std::string::npos); }
      if (stage.name == "order") { EXPECT_NE(print(kernel).find("on a CPU: lane 1\n"), std::string::npos) << print(kernel); }
      if (stage.name == "keep") { EXPECT_NE(print(kernel).find("  keep e"), std::string::npos) << print(kernel); }
      if (stage.name == "divide") { EXPECT_NE(print(kernel).find("64 work items"), std::string::npos) << print(kernel); }
    });
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"hoist", "order", "tile", "passes", "keep", "nontemporal", "software-pipeline", "prefetch", "divide"}));
}

// By whoever asks for it, long after the kernel was made.
TEST_F(LoweringStages, are_reported_for_each_kernel_of_a_program) {
  auto f = compile(lambda(softmax), only("fusion").get());
  thunder::Values given;
  const Ref<Tensor> x = numbers({64, 500});
  given.push(Any::tensor(x.get()));
  ASSERT_EQ(f->prepare(given), nullptr);
  const std::string text = explain(*f, "loops");
  size_t at = 0;
  for (const char* part : {"kernel 1: ", "prims.exp", "as lowered:\nnest ", "after hoist", "after order:\n", "after keep:\n", "after divide:\n"}) {
    at = text.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << " in\n" << text;
  }
}

TEST_F(LoweringStages, compile_nests_that_cannot_run_tile_by_tile_as_a_whole) {
  const Trace trace = traced(softmax, {numbers({64, 500})});
  for (const Node* n : trace.nodes) {
    if (n->executor != std::string_view("fusion") || def(*n).view) continue;
    LoweredRegion region = lowered(*n, *trace.store);
    region.tiles = TileAxes{0, axis_bit(1)};
    std::vector<std::string> seen;
    const CpuKernel kernel = run_stages(region, test::zen3(), Until::scheduled, [&](const Stage& stage, const CpuKernel&) { seen.emplace_back(stage.name); });
    EXPECT_FALSE(kernel.tiled);
    EXPECT_EQ(seen.size(), cpu_stages().size() - 1) << "a stage ran twice, or not at all";
    EXPECT_EQ(print(kernel), print(run_stages(lowered(*n, *trace.store), test::zen3(), Until::scheduled)));
    EXPECT_FALSE(targets().find(Device::cpu)->launcher(region)->runs_tiles());
  }
}

}  // namespace
}  // namespace thunder::fusion
