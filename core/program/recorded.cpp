#include "program/recorded.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

constexpr size_t kNumberBytes = 16;  // of a tensor on the CPU that a kernel gets by value

}  // namespace

// Why the steps cannot be recorded: those on the CPU must not need results of the device. "": they can.
std::string Program::Recorded::obstacle() const {
  const Plan& plan = program_.plan_;
  if (plan.arenas.size() < 2) return "nothing runs on a CUDA device";
  if (plan.arenas.size() > 2) return "it runs on several devices";
  for (size_t i = plan.constant_steps; i < plan.steps.size(); i++) {
    const Step& step = plan.steps[i];
    const auto refuse = [&](const char* why) {
      const Node* n = step.node;
      return cat(n ? n->op->name() : "a copy", n && n->where ? cat(" [at ", n->where, "]") : "", " ", why);
    };
    if (!step.arena) continue;
    if (step.node && program_.preparer_->may_fail(*step.node)) return refuse("is run by a function of the caller's");
    for (uint32_t b = 0; b < step.n_inputs + step.n_outputs; b++) {
      const BufferPlan& buffer = plan.buffers[step.first + b];
      if (buffer.rank < 0 || buffer.device != Device::cpu) continue;
      if (b >= step.n_inputs) return refuse("moves data from the device to the CPU");
      if (program_.bytes_of(buffer) > kNumberBytes) return refuse("moves data from the CPU to the device");
    }
  }
  return "";
}

bool Program::Recorded::reads_host(const Step& step) const {
  for (uint32_t b = 0; b < step.n_inputs; b++) {
    const BufferPlan& buffer = program_.plan_.buffers[step.first + b];
    if (buffer.rank >= 0 && buffer.device == Device::cpu) return true;
  }
  return false;
}

// Memory for a whole input or output of the plan, of which the steps may read views.
Program::Recorded::StaticTensor Program::Recorded::static_tensor(const Patch& patch, size_t number, bool output) const {
  StaticTensor t{patch.index, number, false, DType::none, {}, {}, {}};
  size_t bytes = 0;
  if (output) {
    const DenseType& type = program_.plan_.outputs[patch.index];
    bytes = type.bytes, t.dtype = type.type.dtype, t.sizes = concrete(type.type.shape),
    t.steps = dense_strides(t.sizes);
  } else {
    const InputPlan& type = program_.plan_.inputs[patch.index];
    t.written = type.written, t.dtype = type.type.dtype, t.sizes = concrete(type.type.shape), t.steps = type.strides;
    // Of a broadcast dim, whose elements share one address, one element is copied.
    for (size_t d = 0; d < t.sizes.size(); d++)
      if (t.steps[d] == 0 && t.sizes[d] > 1) t.sizes[d] = 1;
    const Extent e = extent(t.sizes, t.steps, size_of(t.dtype));
    if (e.begin < 0) fail(Code::unimplemented, "input ", patch.index, " has negative strides");
    bytes = static_cast<size_t>(e.end);
  }
  for (int64_t& step : t.steps) step *= static_cast<int64_t>(size_of(t.dtype));
  t.memory = Storage::allocate(device_->allocator(), std::max<size_t>(bytes, 1));
  return t;
}

std::vector<size_t> Program::Recorded::bind_static(Frame& frame, const std::vector<Patch>& patches,
                                                   std::vector<StaticTensor>& all, bool output) const {
  std::vector<size_t> others;
  for (size_t i = 0; i < patches.size(); i++) {
    const Patch& p = patches[i];
    if (program_.plan_.buffers[p.buffer].device == Device::cpu) {
      others.push_back(i);
      continue;
    }
    auto found = std::find_if(all.begin(), all.end(), [&](const StaticTensor& t) { return t.index == p.index; });
    if (found == all.end()) found = all.insert(all.end(), static_tensor(p, i, output));
    frame.buffers[p.buffer].data = found->memory->data() + p.offset;
  }
  return others;
}

Status* Program::Recorded::copy(const StaticTensor& t, const std::vector<Patch>& patches,
                                std::span<std::byte* const> callers, bool back) const {
  const StridedBytes there = t.at(callers[t.patch] - patches[t.patch].offset), here = t.at(t.memory->data());
  return back ? device_->copy(here, there, size_of(t.dtype)) : device_->copy(there, here, size_of(t.dtype));
}

Status* Program::Recorded::record(Frame& frame) {
  recording_ = device_->recording();
  if (Status* failed = recording_->begin()) return failed;
  const Plan& plan = program_.plan_;
  Status* failed = nullptr;
  for (size_t i = plan.constant_steps; i < plan.steps.size() && !failed; i++) {
    if (!plan.steps[i].arena) continue;
    recording_->part(i);
    failed = plan.steps[i].run(&frame.launches[i], plan.steps[i].state);
    if (failed) failed = program_.located(failed, plan.steps[i]);
  }
  Status* const ended = recording_->end();
  if (failed && ended) ended->release();
  if (failed || ended) return failed ? failed : ended;
  host_steps_.clear();
  for (size_t i = plan.constant_steps; i < plan.steps.size(); i++) {
    if (plan.steps[i].arena && !reads_host(plan.steps[i])) continue;
    host_steps_.push_back(i);
    if (plan.steps[i].arena && !recording_->updatable(i))
      return make<Status>(Code::failed_precondition, cat(plan.steps[i].node ? plan.steps[i].node->op->name() : "a copy",
                                                         " reads a number of the CPU's"))
          .detach();
  }
  return nullptr;
}

Status* Program::Recorded::launch(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
                                  InterruptCheck& check) {
  const Plan& plan = program_.plan_;
  if (Status* why = check.before_step(UINT32_MAX)) return stopped(why, plan.steps[plan.constant_steps]);
  for (const StaticTensor& t : inputs_)
    if (Status* failed = copy(t, program_.input_patches_, inputs, false)) return failed;
  for (const size_t i : host_steps_) {
    const Step& step = plan.steps[i];
    if (step.arena) recording_->begin_update(i);
    Status* const failed = step.run(&frame.launches[i], step.state);
    if (step.arena) recording_->end_update();
    if (failed) return program_.located(failed, step);
  }
  if (Status* failed = recording_->launch()) return failed;
  for (const StaticTensor& t : inputs_)
    if (t.written)
      if (Status* failed = copy(t, program_.input_patches_, inputs, true)) return failed;
  for (const StaticTensor& t : outputs_)
    if (Status* failed = copy(t, program_.output_patches_, outputs, true)) return failed;
  return nullptr;
}

// The first call runs step by step, so that libraries load what they need; the second is recorded.
Status* Program::Recorded::run(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
                               InterruptCheck& check) noexcept {
  if (state_ == State::first) examine();
  else if (state_ == State::unrecorded) try_to_record(frame);
  const std::vector<Patch>&from = program_.input_patches_, &to = program_.output_patches_;
  if (state_ == State::recorded) {
    for (const size_t i : host_inputs_) frame.buffers[from[i].buffer].data = inputs[i];
    for (const size_t i : host_outputs_) frame.buffers[to[i].buffer].data = outputs[i];
    return caught([&] { return launch(frame, inputs, outputs, check); });
  }
  for (size_t i = 0; i < from.size(); i++) frame.buffers[from[i].buffer].data = inputs[i];
  for (size_t i = 0; i < to.size(); i++) frame.buffers[to[i].buffer].data = outputs[i];
  return program_.run_steps(frame, program_.plan_.constant_steps, program_.stoppable_with_outputs_,
                            program_.plan_.steps.size(), &check);
}

// If there is no memory for the reason, the program is not recorded and gives no reason.
void Program::Recorded::examine() noexcept {
  state_ = State::refused;
  try {
    why_ = obstacle();
    if (why_.empty()) state_ = State::unrecorded;
  } catch (const std::bad_alloc&) {
  }
}

void Program::Recorded::try_to_record(Frame& frame) noexcept {
  const Ref<Status> failed = Ref<Status>::adopt(caught([&]() -> Status* {
    device_ = program_.accelerators_[1];
    host_inputs_ = bind_static(frame, program_.input_patches_, inputs_, false);
    host_outputs_ = bind_static(frame, program_.output_patches_, outputs_, true);
    return record(frame);
  }));
  state_ = failed ? State::refused : State::recorded;
  if (!failed) return;
  try {
    why_ = failed->message();
  } catch (const std::bad_alloc&) {
    why_.clear();
  }
  recording_.reset(), inputs_.clear(), outputs_.clear();
}

std::string Program::Recorded::describe() const {
  switch (state_) {
    case State::first:
    case State::unrecorded: return "not recorded yet: the second call is";
    case State::refused: return cat("not recorded: ", why_);
    case State::recorded: break;
  }
  return cat("recorded: ", recording_->describe(), "; ", inputs_.size(), " inputs and ", outputs_.size(),
             " results are copied, ", bytes(), " bytes");
}

size_t Program::Recorded::bytes() const {
  size_t sum = 0;
  for (const std::vector<StaticTensor>* all : {&inputs_, &outputs_})
    for (const StaticTensor& t : *all) sum += t.memory->bytes();
  return sum;
}

}  // namespace thunder
