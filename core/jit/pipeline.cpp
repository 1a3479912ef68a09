#include "jit/pipeline.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "ir/verify.h"
#include "jit/execution_transforms.h"
#include "passes/accumulate.h"
#include "passes/algebra.h"
#include "passes/casts.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/fold.h"
#include "passes/grad.h"
#include "passes/materialize.h"
#include "passes/reciprocals.h"
#include "passes/verify_types.h"

namespace thunder {
namespace {

using Result = std::optional<Trace>;

Result with_execution_transforms(const Trace& t, PipelineContext& c) {
  return apply_execution_transforms(t, c.executors, c.environment);
}
Result grad(const Trace& t, PipelineContext& c) { return expand_gradients(t, c.pass.registry); }
template <PassFn pass>
Result plain(const Trace& t, PipelineContext& c) {
  return pass(t, c.pass);
}
Result descended(const Trace& t, PipelineContext& c) { return descend(t, c.executors); }
Result claimed(const Trace& t, PipelineContext& c) {
  return claim(t, c.executors, c.pass.registry.get("region"), c.states);
}

constexpr std::array kPipeline = {
    PipelineRow{"transform", with_execution_transforms, true,
                "before grad: what executors put in the place of lines has gradients of its own"},
    PipelineRow{"grad", grad, true, "early: what follows cleans up the backward together with the forward"},
    PipelineRow{"cse", plain<cse>, false,
                "early: the backward recomputes what the forward has, while both are still few lines"},
    PipelineRow{"dce", plain<dce>, false, "before descending, so that nothing unused is descended into"},
    PipelineRow{"descend", descended, true, "the rest works on the ops that executors take"},
    PipelineRow{"fold", plain<fold>, false,
                "decompositions compute with their arguments; the rules below look for numbers"},
    PipelineRow{"casts", plain<casts>, false, "neighbours convert and reshape back and forth"},
    PipelineRow{"algebra", plain<algebra>, false, "after fold, which makes the numbers that its rules match"},
    PipelineRow{"reciprocals", plain<reciprocals>, false,
                "with allow_reciprocal alone; after casts and algebra, which bring divisions to the views of divisors"},
    PipelineRow{"accumulate", plain<accumulate>, false,
                "after casts and algebra, which bring sums and what they add together"},
    PipelineRow{"materialize", plain<materialize>, false,
                "what is returned is known by now; dce_prims drops the views that copies stand for"},
    PipelineRow{"cse_prims", plain<cse>, false, "decompositions repeat each other's casts and constants"},
    PipelineRow{"dce_prims", plain<dce>, false, "drops what descending and merging left unused"},
    PipelineRow{"claim", claimed, true, "last: every line gets the executor that runs it"},
};

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A stage of one compile: a row, or a pass of the caller's.
struct Stage {
  const PipelineRow* row = nullptr;
  const CustomPass* custom = nullptr;
  std::string_view name() const { return row ? row->name : std::string_view(custom->name()); }
  std::string_view after() const {
    return row ? "" : custom->after().empty() && custom->before().empty() ? "grad" : std::string_view(custom->after());
  }
};

std::string nearest(std::string_view name, const std::vector<Stage>& stages) {
  std::vector<std::string_view> known;
  for (auto& s : stages) known.push_back(s.name());
  return suggest(name, known);
}

auto find(std::vector<Stage>& stages, std::string_view name) {
  return std::find_if(stages.begin(), stages.end(), [&](auto& s) { return s.name() == name; });
}

// The rows with the caller's passes between them; those at one place in the order added.
std::vector<Stage> stages_with(const CustomPasses& custom) {
  std::vector<Stage> stages;
  for (auto& row : kPipeline) stages.push_back({&row, nullptr});
  for (auto& pass : custom) {
    const Stage stage{nullptr, pass.get()};
    require(find(stages, pass->name()) == stages.end(), "pass '", pass->name(), "' has the name of another one");
    const std::string_view beside = stage.after().empty() ? std::string_view(pass->before()) : stage.after();
    auto at = find(stages, beside);
    require(at != stages.end(), "pass '", pass->name(), "' stands beside the unknown pass '", beside, "'",
            at == stages.end() ? nearest(beside, stages) : "");
    if (!stage.after().empty())
      for (++at; at != stages.end() && at->custom && at->after() == beside;) ++at;
    stages.insert(at, stage);
  }
  return stages;
}

void check_names(const std::vector<std::string>& disabled, std::vector<Stage>& stages) {
  for (auto& name : disabled) {
    auto it = find(stages, name);
    if (it == stages.end())
      fail(Code::invalid_argument, "disable_passes: unknown pass '", name, "'", nearest(name, stages));
    require(!it->row || !it->row->required, "disable_passes: pass '", name, "' is required");
  }
}

// What a caller's pass wrote, brought to where the trace already is: down to what executors take, and claimed.
Trace caught_up(Trace made, PipelineContext& context, bool is_descended, bool is_claimed) {
  if (!is_descended) return made;
  if (!is_claimed) return descend(made, context.executors);
  // New lines are few and need no fusing; what is claimed stays as it is.
  Executors singly = context.executors;
  std::erase_if(singly, [](auto& e) { return e->desc().claim_region != nullptr; });
  std::vector<const Node*> nodes;
  for (const Node* n : std::exchange(made.nodes, {})) {
    if (n->executor) {
      nodes.push_back(n);
      continue;
    }
    Trace one = made;
    one.nodes = {n};
    one = claim(descend(one, singly), singly, context.pass.registry.get("region"), context.states);
    nodes.insert(nodes.end(), one.nodes.begin(), one.nodes.end());
  }
  made.nodes = std::move(nodes);
  return made;
}

// What a caller's pass makes is always verified: its mistake must not become ours.
Result run_custom(const CustomPass& pass, const Trace& trace, PipelineContext& context, bool is_descended,
                  bool is_claimed) {
  Result made = pass.run(trace, context.pass, context.environment);
  if (!made) return made;
  made = caught_up(std::move(*made), context, is_descended, is_claimed);
  made->pass = pass.name();
  verify(*made);
  verify_types(*made, context.pass.registry);
  return made;
}

}  // namespace

std::span<const PipelineRow> pipeline() { return kPipeline; }

void check_stage(const Trace& stage, const PipelineContext& context) {
  if (!context.verify) return;
  verify(stage);
  verify_types(stage, context.pass.registry);
}

void check_optional(std::span<const std::string> passes, std::string_view who) {
  for (auto& name : passes)
    for (const PipelineRow& row : kPipeline)
      require(row.name != name || !row.required, who, " cannot leave out pass '", name, "', which is required");
}

void check_places(const CustomPasses& custom) { stages_with(custom); }

void run_pipeline(std::vector<Trace>& traces, PipelineContext& context, std::string_view before) {
  std::vector<Stage> stages = stages_with(context.custom);
  check_names(context.disabled, stages);
#ifdef THUNDER_DEV
  context.verify = true;
#endif
  check_stage(traces.back(), context);
  bool is_descended = false, is_claimed = false;
  size_t done = 0;
  for (const Stage& stage : stages) {
    if (stage.name() == before) return;
    const size_t number = done++;
    if (std::find(context.disabled.begin(), context.disabled.end(), stage.name()) != context.disabled.end()) continue;
    context.check.at(stage.name(), number, stages.size());
    const double start = now_ms();
    Result made = stage.row ? stage.row->run(traces.back(), context)
                            : run_custom(*stage.custom, traces.back(), context, is_descended, is_claimed);
    is_descended |= stage.name() == "descend";
    is_claimed |= stage.name() == "claim";
    if (!made) continue;
    made->pass = stage.name();
    made->milliseconds = now_ms() - start;
    check_stage(*made, context);
    traces.push_back(std::move(*made));
  }
}

}  // namespace thunder
