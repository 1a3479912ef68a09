#include "program/program.h"

#include <algorithm>

#include "base/checked.h"
#include "program/copy.h"
#include "program/joined_steps.h"
#include "program/plan_steps.h"
#include "program/recorded.h"

namespace thunder {

Program::Program(const Trace& trace, const Trace& written, const InputLayouts& inputs,
                 std::span<void* const> fixed, std::unique_ptr<Preparer> preparer, Devices& devices,
                 ThreadPool& threads, InterruptCheck& check)
    : trace_(trace), written_(written), plan_(plan_memory(trace, inputs, *preparer)), devices_(devices),
      threads_(threads), preparer_(std::move(preparer)), fixed_(fixed.begin(), fixed.end()),
      n_given_(trace.inputs.size() - fixed.size()) {
  for (const DeviceArena& a : plan_.arenas)
    accelerators_.push_back(a.device == Device::cpu ? nullptr : &devices.accelerator(a.device));
  try {
    prepare_steps(check);
    find_stoppable();
    constants_ = allocate(&DeviceArena::constant_bytes);
    find_patches();
    share_arenas();
    first_ = make_frame();
    if (Status* failed = renew()) throw Error(Ref<Status>::adopt(failed));
  } catch (...) {
    for (auto& [state, drop] : drops_) drop(state);
    leave_arenas();
    throw;
  }
}

void Program::use_recording() {
  given_.resize(input_patches_.size()), asked_.resize(output_patches_.size());
  recorded_ = std::make_unique<Recorded>(*this);
  if (!std::exchange(first_->owns, true)) place(*first_);  // what is recorded has addresses
}

std::string Program::recording_report() const { return recorded_ ? recorded_->describe() : ""; }

Status* Program::run_recorded(Frame& frame, InterruptCheck& check) noexcept {
  return recorded_->run(frame, given_, asked_, check);
}

Program::~Program() {
  recorded_.reset();  // it launches what the steps prepared
  for (auto& [state, drop] : drops_) drop(state);
  leave_arenas();
}

// Finds the buffers that each call has to bind. The others keep their addresses.
void Program::find_patches() {
  for (uint32_t i = 0; i < plan_.buffers.size(); i++) {
    const BufferPlan& b = plan_.buffers[i];
    if (b.place == Place::output) output_patches_.push_back({i, b.index, b.offset});
    if (b.place != Place::input || b.index >= n_given_) continue;
    input_patches_.push_back({i, b.index, b.offset});
  }
}

Buffer Program::layout(const BufferPlan& b) const {
  Buffer buffer;
  buffer.shape = plan_.layouts.data() + b.layout;
  buffer.strides = buffer.shape + std::max(b.rank, 0);
  buffer.rank = b.rank;
  buffer.dtype = b.dtype;
  buffer.device = b.device;
  return buffer;
}

Prepared Program::prepare_step(Step& step, std::span<const Buffer> layouts) {
  const std::span<const Buffer> inputs = layouts.subspan(step.first, step.n_inputs);
  drops_.reserve(drops_.size() + 1);  // so that a state which was made is not lost
  const Prepared p =
      preparer_->prepare(*step.node, *trace_.store, inputs, layouts.subspan(step.first + step.n_inputs, step.n_outputs),
                         step.epilogue_input);
  if (p.drop) drops_.emplace_back(p.state, p.drop);
  step.run = p.run;
  step.state = p.state;
  return p;
}

// An epilogue runs inside the step before it, and is no step of its own. All steps on the CPU use the same scratch
// memory, one after the other; an epilogue's scratch comes after that of the step that runs it. Steps that libraries
// run on devices may say what they need when they are finished, and only then are their places known.
void Program::prepare_steps(InterruptCheck& check) {
  std::vector<int64_t> scratch, behind;  // by arena: where scratch begins; where that of the step before ends
  for (const DeviceArena& a : plan_.arenas) scratch.push_back(static_cast<int64_t>(a.bytes));
  behind = scratch;
  std::vector<Buffer> layouts;
  for (const BufferPlan& b : plan_.buffers) layouts.push_back(layout(b));
  std::vector<Step> steps;
  for (size_t done = 0; Step& step : plan_.steps) {
    check.at("prepare", done++, plan_.steps.size());
    Accelerator* const accelerator = accelerators_[step.arena];
    if (!step.node && accelerator) step.run = run_copy_on_device, step.state = accelerator;
    const Prepared p = step.node ? prepare_step(step, layouts) : Prepared();
    step.scratch_bytes = p.scratch_bytes;
    if (accelerator && !p.run_tile) {
      steps.push_back(step), prepacks_.push_back(p.prepack);
      continue;
    }
    const int64_t begin = p.run_tile ? behind[step.arena] : scratch[step.arena];
    if (p.scratch_bytes) step.scratch = begin;
    behind[step.arena] = checked_add(begin, aligned(p.scratch_bytes));
    size_t& bytes = plan_.arenas[step.arena].bytes;
    bytes = std::max(bytes, static_cast<size_t>(behind[step.arena]));
    if (!p.run_tile) {
      steps.push_back(step), prepacks_.push_back(p.prepack);
      continue;
    }
    steps.back().epilogue = static_cast<int32_t>(plan_.epilogues.size());
    plan_.epilogues.push_back(step);
    run_tiles_.push_back(p.run_tile);
  }
  plan_.steps = std::move(steps);
  finish_steps(false, check);
  for (uint32_t i = 0; i < plan_.arenas.size(); i++)
    if (accelerators_[i]) place_scratch(plan_, i);
  join_steps();
  finish_steps(true, check);
}

// Those that kernels of ours run, which are compiled meanwhile, or the others.
void Program::finish_steps(bool compiled, InterruptCheck& check) {
  const size_t total = plan_.steps.size() + plan_.epilogues.size();
  size_t done = 0;
  for (std::vector<Step>* all : {&plan_.steps, &plan_.epilogues})
    for (Step& step : *all) {
      check.at(compiled ? "compile" : "plan", done++, total);
      if (!step.node || (preparer_->launcher(*step.node, step.state) != nullptr) != compiled) continue;
      Finished finished;
      preparer_->finish(*step.node, step.state, finished);
      plan_ms_ += finished.plan_ms;
      if (!finished.scratch_bytes) continue;
      ensure(accelerators_[step.arena] && !compiled && all == &plan_.steps && step.epilogue < 0,
             "only a library's step on a device learns late what scratch it needs");
      step.scratch_bytes = finished.scratch_bytes;
    }
}

// Steps are moved down to the last one that they are joined with, so that nothing is written earlier than before.
void Program::join_steps() {
  std::vector<Joinable> joinable;
  for (const Step& step : plan_.steps)
    joinable.push_back(step.node ? preparer_->joinable(*step.node, step.state) : Joinable());
  std::vector<const JoinedSteps*> joined(plan_.steps.size());  // by step
  const std::vector<JoinedSteps> all = joined_steps(plan_, joinable);
  if (all.empty()) return;
  for (const JoinedSteps& one : all)
    for (const size_t i : one) joined[i] = &one;
  std::vector<Step> steps;
  decltype(prepacks_) prepacks;
  const auto keep = [&](size_t i, size_t follows) {
    steps.push_back(plan_.steps[i]), prepacks.push_back(prepacks_[i]);
    steps.back().follows = static_cast<uint32_t>(follows);
  };
  for (size_t i = 0; i < plan_.steps.size(); i++) {
    if (!joined[i]) keep(i, 0);
    if (!joined[i] || joined[i]->back() != i) continue;
    std::vector<const Node*> nodes;
    std::vector<void*> states;
    for (const size_t k : *joined[i]) {
      keep(k, nodes.size());
      nodes.push_back(plan_.steps[k].node), states.push_back(plan_.steps[k].state);
    }
    preparer_->join(nodes, states);
  }
  plan_.steps = std::move(steps), prepacks_ = std::move(prepacks);
}

void Program::find_stoppable() {
  constexpr uint64_t kLeastBytes = 4096;
  stoppable_ = stoppable_with_outputs_ = plan_.steps.size();
  for (size_t i = plan_.steps.size(); i-- > plan_.constant_steps;) {
    Step& step = plan_.steps[i];
    uint64_t bytes = 0;
    const auto look_at = [&](const Step& s) {
      for (uint32_t b = s.first; b < s.first + s.n_inputs + s.n_outputs; b++) {
        const BufferPlan& buffer = plan_.buffers[b];
        bytes += buffer.rank < 0 ? 0 : bytes_of(buffer);
        if (b < s.first + s.n_inputs) continue;
        const bool input = buffer.place == Place::input && !plan_.inputs[buffer.index].donated;
        if (input) stoppable_ = i + 1;
        if (input || buffer.place == Place::output) stoppable_with_outputs_ = i + 1;
      }
    };
    look_at(step);
    if (step.epilogue >= 0) look_at(plan_.epilogues[static_cast<size_t>(step.epilogue)]);
    step.bytes = static_cast<uint32_t>(std::clamp<uint64_t>(bytes, kLeastBytes, UINT32_MAX));
  }
}

uint64_t Program::bytes_of(const BufferPlan& b) const {
  uint64_t bytes = size_of(b.dtype);
  for (int32_t i = 0; i < b.rank; i++)
    bytes *= static_cast<uint64_t>(plan_.layouts[b.layout + static_cast<uint32_t>(i)]);
  return bytes;
}

size_t Program::peak_bytes(Device device) const {
  for (const DeviceArena& a : plan_.arenas)
    if (a.device == device) return a.bytes + a.constant_bytes + (device == Device::cpu ? kept_bytes_.load() : 0);
  return 0;
}

Status* Program::prepack(const Frame& frame, size_t step) {
  std::vector<Buffer> inputs(frame.launches[step].inputs, frame.launches[step].inputs + frame.launches[step].n_inputs);
  for (size_t i = 0; i < inputs.size(); i++) {
    const BufferPlan& b = plan_.buffers[plan_.steps[step].first + i];
    const bool stays = b.place == Place::constant || (b.place == Place::input && trace_.inputs[b.index].frozen);
    if (!stays) inputs[i].data = nullptr;
  }
  Launch launch = frame.launches[step];
  launch.inputs = inputs.data();
  size_t kept = 0;
  Status* failed = prepacks_[step](&launch, plan_.steps[step].state, &kept);
  kept_bytes_ += kept;
  return failed ? located(failed, plan_.steps[step]) : nullptr;
}

Status* Program::run_once(Frame& frame) {
  if (Status* failed = run_steps(frame, 0, 0, plan_.constant_steps, nullptr)) return failed;
  if (std::none_of(trace_.inputs.begin(), trace_.inputs.end(), [](const Input& input) { return input.frozen; }))
    return nullptr;
  kept_bytes_ = 0;
  for (size_t i = plan_.constant_steps; i < plan_.steps.size(); i++)
    if (prepacks_[i])
      if (Status* failed = prepack(frame, i)) return failed;
  return nullptr;
}

Status* Program::renew() noexcept {
  Status* failed = nullptr;
  Frame* const frame = acquire(failed);
  if (!frame) return failed;
  try {
    failed = run_once(*frame);
  } catch (const Error& e) {
    failed = Ref<Status>(e.status()).detach();
  } catch (...) {
    failed = out_of_memory_status();
  }
  release(*frame);
  return failed;
}

}  // namespace thunder
