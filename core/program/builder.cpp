#include "program/builder.h"

#include <algorithm>

#include "base/checked.h"
#include "program/copy.h"
#include "program/joined_steps.h"
#include "program/memory_formats.h"
#include "program/plan_steps.h"

namespace thunder {
namespace {

Status* run_no_op(const Launch*, void*) { return nullptr; }

// Makes a step ready to run; may throw what its executor throws.
template <class F>
void prepare_step(const Step& step, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    fail_to_prepare(step.node->executor, *step.node, e);
  }
}

}  // namespace

ProgramBuilder::ProgramBuilder(const Trace& trace, Kernels kernels, Devices& devices, std::optional<Plan> plan)
    : trace_(trace), kernels_(std::move(kernels)), devices_(devices), is_planned_(plan.has_value()) {
  if (plan) plan_ = std::move(*plan);
}

void ProgramBuilder::choose_memory_formats(const InputLayouts& inputs) {
  channels_last_ = find_channels_last(trace_, inputs, kernels_);
}

void ProgramBuilder::plan_memory(const InputLayouts& inputs, bool epilogues, SizesOfClass& of) {
  const PlanOptions options{epilogues, channels_last_};
  if (of.plan && !of.plan->derived()) {
    of.plan->derive(trace_, of.symbols, inputs, kernels_, options);
    std::optional<Plan> shared = of.plan->plan_for(of.symbols, inputs);
    if ((of.shares_plan = is_planned_ = shared.has_value())) plan_ = std::move(*shared);
  }
  if (!is_planned_) {
    const PlanFormulas made = plan_formulas(trace_, inputs, kernels_, options);
    plan_ = made.plan(trace_.nodes, made.formulas.evaluate({}));
  }
  plan_.channels_last = std::move(channels_last_);
  accelerators_ = accelerators_of(plan_, devices_);
}

void ProgramBuilder::prepare_step_of(Step& step, const CompileSettings& settings, const SizesOfClass& of,
                                     ClassPlan::LinesOf& lines) {
  if (of.shares_plan) step.node = of.lines->get()(step.node);
  const Store& store = of.shares_plan ? of.lines->get().store() : *trace_.store;
  step.kernel = kernels_.take_kernel(*step.node, store);
  std::vector<Buffer> layouts;
  for (uint32_t b = step.first; b < step.first + step.n_inputs + step.n_outputs; b++)
    layouts.push_back(buffer_of(plan_, plan_.buffers[b]));
  const std::span<const Buffer> all(layouts);
  const NodeView view{*step.node,
                      store,
                      settings,
                      all.first(step.n_inputs),
                      all.subspan(step.n_inputs),
                      step.epilogue_input,
                      of.plan != nullptr};
  prepare_step(step, [&] { step.kernel->adapt_to_layouts(view); });
  if (of.shares_plan) of.plan->keep_kernel(step, *step.kernel, lines);
  are_finished_ = false;
}

// A kernel that packs what is frozen has that of one step.
bool ProgramBuilder::may_share(const Step& step, const Kernel& kernel) const {
  if (!kernel.has(kShareable) || !kernel.has(kPacks)) return kernel.has(kShareable);
  const std::span<const BufferPlan> inputs = std::span(plan_.buffers).subspan(step.first, step.n_inputs);
  return std::none_of(inputs.begin(), inputs.end(), [&](const BufferPlan& b) {
    return b.place == Place::constant || (b.place == Place::input && plan_.inputs[b.index].frozen);
  });
}

// An epilogue runs inside the step before it, and is no step of its own. All steps on the CPU use the same scratch
// memory, one after the other; an epilogue's scratch comes after that of the step that runs it. Steps that libraries
// run on devices may say what they need when they are finished, and only then are their places known.
void ProgramBuilder::adapt_kernels_to_layouts(const CompileSettings& settings, const SizesOfClass& of,
                                              InterruptCheck& check) {
  std::vector<int64_t> scratch, behind;  // by arena: where scratch begins; where that of the step before ends
  for (const DeviceArena& a : plan_.arenas) scratch.push_back(static_cast<int64_t>(a.bytes));
  behind = scratch;
  size_t kept = 0;  // of the steps, so far
  ClassPlan::LinesOf lines(of.symbols);
  std::vector<std::shared_ptr<Kernel>> by_line(of.shares_plan ? trace_.nodes.size() : 0);
  for (size_t number = 0; number < plan_.steps.size(); number++) {
    Step& step = plan_.steps[number];
    Accelerator* const accelerator = accelerators_[step.arena];
    if (!step.node && accelerator) step.call = {run_copy_on_device, accelerator};
    if (step.node) {
      const auto line = static_cast<size_t>(step.line);
      const uint32_t leader = by_line.empty() ? 0 : of.plan->leaders()[line];
      if (!by_line.empty() && by_line[leader] && may_share(step, *by_line[leader])) step.kernel = by_line[leader];
      if (!step.kernel) {
        check.at("prepare", number, plan_.steps.size());
        prepare_step_of(step, settings, of, lines);
      }
      if (!by_line.empty()) by_line[line] = step.kernel;
      step.call = step.kernel->call();
      step.scratch_bytes = step.kernel->scratch();
      are_finished_ = are_finished_ && !accelerator;
    }
    const bool is_epilogue = step.kernel && step.kernel->runs_tiles();
    if (!accelerator || is_epilogue) {
      const int64_t begin = is_epilogue ? behind[step.arena] : scratch[step.arena];
      if (step.scratch_bytes) step.scratch = begin;
      behind[step.arena] = checked_add(begin, aligned(step.scratch_bytes));
      size_t& bytes = plan_.arenas[step.arena].bytes;
      bytes = std::max(bytes, static_cast<size_t>(behind[step.arena]));
    }
    if (is_epilogue) {
      plan_.steps[kept - 1].epilogue = static_cast<int32_t>(plan_.epilogues.size());
      plan_.epilogues.push_back(std::move(step));
    } else if (kept++ != number) {
      plan_.steps[kept - 1] = std::move(step);
    }
  }
  plan_.steps.resize(kept);
  finish_steps(false, check);
  for (uint32_t i = 0; i < plan_.arenas.size(); i++)
    if (accelerators_[i]) place_scratch(plan_, i);
}

// Finishes the steps of compiled kernels, which other threads compile meanwhile, or all other steps.
void ProgramBuilder::finish_steps(bool compiled, InterruptCheck& check) {
  if (are_finished_) return;
  const size_t total = plan_.steps.size() + plan_.epilogues.size();
  size_t done = 0;
  for (std::vector<Step>* all : {&plan_.steps, &plan_.epilogues})
    for (Step& step : *all) {
      check.at(compiled ? "compile" : "plan", done++, total);
      if (!step.kernel || step.follows || (step.kernel->launcher() != nullptr) != compiled) continue;
      Kernel& kernel = step.joined ? *step.joined : *step.kernel;
      prepare_step(step, [&] { kernel.finish_compiling(); });
      plan_.library_ms += kernel.plan_ms();
      if (step.joined || kernel.scratch() == step.scratch_bytes) continue;
      ensure(accelerators_[step.arena] && !compiled && all == &plan_.steps && step.epilogue < 0,
             "only a library's step on a device learns late what scratch it needs");
      step.scratch_bytes = kernel.scratch();
    }
}

// Steps are moved down to the last one that they are joined with, so that nothing is written earlier than before.
void ProgramBuilder::join_steps() {
  std::vector<Joinable> joinable;
  for (const Step& step : plan_.steps)
    joinable.push_back(step.kernel ? step.kernel->joinable() : Joinable());
  std::vector<const JoinedSteps*> joined(plan_.steps.size());  // by step
  const std::vector<JoinedSteps> all = joined_steps(plan_, joinable);
  if (all.empty()) return;
  for (const JoinedSteps& one : all)
    for (const size_t i : one) joined[i] = &one;
  std::vector<Step> steps;
  for (size_t i = 0; i < plan_.steps.size(); i++) {
    if (!joined[i]) steps.push_back(std::move(plan_.steps[i]));
    if (!joined[i] || joined[i]->back() != i) continue;
    std::vector<const Kernel*> kernels;
    for (const size_t k : *joined[i]) {
      Step& step = steps.emplace_back(std::move(plan_.steps[k]));
      step.follows = static_cast<uint32_t>(kernels.size());
      step.call = {run_no_op, nullptr};
      kernels.push_back(step.kernel.get());
    }
    Step& first = steps[steps.size() - kernels.size()];
    prepare_step(first, [&] { first.joined = kernels[0]->join(kernels); });
    first.call = first.joined->call();
  }
  plan_.steps = std::move(steps);
}

void ProgramBuilder::finish(InterruptCheck& check) { finish_steps(true, check); }

std::unique_ptr<Program> ProgramBuilder::link(StageTraces traces, const SizesOfClass& of, std::span<void* const> fixed,
                                              ThreadPool& threads) {
  if (of.shares_plan) traces = StageTraces({}, of.traces);
  else traces.made().push_back(std::move(trace_));
  return std::make_unique<Program>(std::move(traces), Program::Needed{kernels_.views(), of.lines}, std::move(plan_),
                                   fixed, devices_, threads);
}

}  // namespace thunder
