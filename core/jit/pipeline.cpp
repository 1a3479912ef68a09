#include "jit/pipeline.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/text.h"
#include "ir/verify.h"
#include "passes/algebra.h"
#include "passes/casts.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/fold.h"
#include "passes/grad.h"
#include "passes/verify_types.h"

namespace thunder {
namespace {

using Result = std::optional<Trace>;

Result grad(const Trace& t, PipelineContext& c) { return expand_gradients(t, c.pass.registry); }
template <PassFn pass>
Result plain(const Trace& t, PipelineContext& c) {
  return pass(t, c.pass);
}
Result descended(const Trace& t, PipelineContext& c) { return descend(t, c.executors); }
Result claimed(const Trace& t, PipelineContext& c) { return claim(t, c.executors, c.pass.registry.get("region")); }

constexpr std::array kPipeline = {
    PipelineRow{"grad", grad, true, "first: what follows cleans up the backward together with the forward"},
    PipelineRow{"cse", plain<cse>, false, "early: the backward recomputes what the forward has, while both are still few lines"},
    PipelineRow{"dce", plain<dce>, false, "before descending, so that nothing unused is descended into"},
    PipelineRow{"descend", descended, true, "the rest works on the ops that executors take"},
    PipelineRow{"fold", plain<fold>, false, "decompositions compute with their arguments; the rules below look for numbers"},
    PipelineRow{"casts", plain<casts>, false, "neighbours convert and reshape back and forth"},
    PipelineRow{"algebra", plain<algebra>, false, "after fold, which makes the numbers that its rules match"},
    PipelineRow{"cse_prims", plain<cse>, false, "decompositions repeat each other's casts and constants"},
    PipelineRow{"dce_prims", plain<dce>, false, "drops what descending and merging left unused"},
    PipelineRow{"claim", claimed, true, "last: every line gets the executor that runs it"},
};

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void check_names(const std::vector<std::string>& disabled) {
  for (auto& name : disabled) {
    auto it = std::find_if(kPipeline.begin(), kPipeline.end(), [&](auto& row) { return row.name == name; });
    if (it == kPipeline.end()) {
      std::vector<std::string_view> known;
      for (auto& row : kPipeline) known.push_back(row.name);
      fail(Code::invalid_argument, "disable_passes: unknown pass '", name, "'", suggest(name, known));
    }
    require(!it->required, "disable_passes: pass '", name, "' is required");
  }
}

}  // namespace

std::span<const PipelineRow> pipeline() { return kPipeline; }

void check_stage(const Trace& stage, const PipelineContext& context) {
  if (!context.verify) return;
  verify(stage);
  verify_types(stage, context.pass.registry);
}

void run_pipeline(std::vector<Trace>& traces, PipelineContext& context) {
  check_names(context.disabled);
#ifdef THUNDER_DEV
  context.verify = true;
#endif
  check_stage(traces.back(), context);
  for (const PipelineRow& row : kPipeline) {
    if (std::find(context.disabled.begin(), context.disabled.end(), row.name) != context.disabled.end()) continue;
    const double start = now_ms();
    std::optional<Trace> made = row.run(traces.back(), context);
    if (!made) continue;
    made->pass = row.name;
    made->milliseconds = now_ms() - start;
    check_stage(*made, context);
    traces.push_back(std::move(*made));
  }
}

}  // namespace thunder
