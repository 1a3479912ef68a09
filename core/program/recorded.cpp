#include "program/recorded.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace thunder {
namespace {

constexpr size_t kNumberBytes = 16;  // of a tensor on the CPU that a kernel gets by value
// Replacing a kernel's parameters in a graph takes the host about a fifth of the time of enqueuing a copy, and most
// tensors have the address that they had in the call before.
constexpr size_t kMostUpdated = 64;  // steps that use a tensor which is not copied

}  // namespace

Program::Recorded::Recorded(Program& program)
    : program_(program),
      inputs_{program.input_patches_, false, {}, {}, {}},
      outputs_{program.output_patches_, true, {}, {}, {}} {}

// Why the steps cannot be recorded: those on the CPU must not need results of the device. "": they can.
std::string Program::Recorded::why_not_recordable() const {
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
    if (step.kernel && step.kernel->has(kMayFail)) return refuse(step.kernel->unrecordable());
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
    // The elements of a broadcast dim share one address, so only one is copied.
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

bool Program::Recorded::divide_tensors(Frame& frame, CallTensors& tensors) const {
  const Plan& plan = program_.plan_;
  std::vector<size_t> step_of(plan.buffers.size(), 0);
  for (size_t i = plan.constant_steps; i < plan.steps.size(); i++)
    for (uint32_t b = 0; b < plan.steps[i].n_inputs + plan.steps[i].n_outputs; b++)
      step_of[plan.steps[i].first + b] = i - plan.steps[i].follows;
  struct Use {
    size_t steps = 0;
    bool by_kernels = true;
  };
  std::vector<Use> uses(tensors.output ? plan.outputs.size() : plan.inputs.size());
  for (const Patch& p : tensors.patches) {
    Use& use = uses[p.index];
    use.steps++, use.by_kernels = use.by_kernels && recording_->updatable(step_of[p.buffer]);
  }
  for (size_t i = 0; i < tensors.patches.size(); i++) {
    const Patch& p = tensors.patches[i];
    const Use& use = uses[p.index];
    if (plan.buffers[p.buffer].device == Device::cpu) tensors.on_host.push_back(i);
    else if (use.by_kernels && use.steps <= kMostUpdated) tensors.parameters.push_back({i, step_of[p.buffer]});
    else {
      auto found = std::find_if(tensors.copied.begin(), tensors.copied.end(),
                                [&](const StaticTensor& t) { return t.index == p.index; });
      if (found == tensors.copied.end())
        found = tensors.copied.insert(tensors.copied.end(), static_tensor(p, i, tensors.output));
      frame.buffers[p.buffer].data = found->memory->data() + p.offset;
    }
  }
  return !tensors.copied.empty();
}

void Program::Recorded::find_updates(Frame& frame, const CallTensors& tensors, std::span<std::byte* const> given) {
  for (const KernelParameter& parameter : tensors.parameters) {
    void*& at = frame.buffers[tensors.patches[parameter.patch].buffer].data;
    if (at == given[parameter.patch]) continue;
    at = given[parameter.patch];
    if (!std::exchange(is_updated_[parameter.step], true)) updates_.push_back(parameter.step);
  }
}

Status* Program::Recorded::update_step(Frame& frame, size_t i) {
  const Step& step = program_.plan_.steps[i];
  recording_->begin_update(i);
  Status* const failed = step.call(&frame.launches[i]);
  recording_->end_update();
  if (!failed) return nullptr;
  // Whatever the kernels have now, the next call gives them all again.
  for (const CallTensors* all : {&inputs_, &outputs_})
    for (const KernelParameter& p : all->parameters) frame.buffers[all->patches[p.patch].buffer].data = nullptr;
  return program_.add_location(failed, step);
}

Status* Program::Recorded::copy(const StaticTensor& t, const CallTensors& of, std::span<std::byte* const> callers,
                                bool back) const {
  const StridedBytes there = t.at(callers[t.patch] - of.patches[t.patch].offset), here = t.at(t.memory->data());
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
    failed = plan.steps[i].call(&frame.launches[i]);
    if (failed) failed = program_.add_location(failed, plan.steps[i]);
  }
  Status* const ended = recording_->end();
  if (failed && ended) ended->release();
  if (failed || ended) return failed ? failed : ended;
  host_steps_.clear();
  for (size_t i = plan.constant_steps; i < plan.steps.size(); i++) {
    if (plan.steps[i].follows || (plan.steps[i].arena && !reads_host(plan.steps[i]))) continue;
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
  if (Status* why = check.before_step(UINT32_MAX)) return describe_stop(why, plan.steps[plan.constant_steps]);
  for (const StaticTensor& t : inputs_.copied)
    if (Status* failed = copy(t, inputs_, inputs, false)) return failed;
  find_updates(frame, inputs_, inputs), find_updates(frame, outputs_, outputs);
  // The steps run in their order: a step on the CPU may change a number after a kernel has read it.
  for (const size_t i : host_steps_) {
    const Step& step = plan.steps[i];
    if (step.arena) {
      if (Status* failed = update_step(frame, i)) return failed;
    } else if (Status* failed = step.call(&frame.launches[i])) {
      return program_.add_location(failed, step);
    }
  }
  for (const size_t i : updates_)
    if (!std::binary_search(host_steps_.begin(), host_steps_.end(), i))
      if (Status* failed = update_step(frame, i)) return failed;
  if (Status* failed = recording_->launch()) return failed;
  for (const StaticTensor& t : inputs_.copied)
    if (t.written)
      if (Status* failed = copy(t, inputs_, inputs, true)) return failed;
  for (const StaticTensor& t : outputs_.copied)
    if (Status* failed = copy(t, outputs_, outputs, true)) return failed;
  return nullptr;
}

// The first call runs step by step, so that libraries load what they need; the second is recorded.
Status* Program::Recorded::run(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
                               InterruptCheck& check) noexcept {
  if (state_ == State::first) check_recordable();
  else if (state_ == State::unrecorded) try_to_record(frame, inputs, outputs);
  if (state_ == State::recorded) {
    for (const size_t i : inputs_.on_host) frame.buffers[inputs_.patches[i].buffer].data = inputs[i];
    for (const size_t i : outputs_.on_host) frame.buffers[outputs_.patches[i].buffer].data = outputs[i];
    for (const size_t i : updates_) is_updated_[i] = false;
    updates_.clear();
    return catch_as_status([&] { return launch(frame, inputs, outputs, check); });
  }
  bind_addresses(frame, inputs, outputs);
  return program_.run_steps(frame, program_.plan_.constant_steps, program_.stoppable_with_outputs_,
                            program_.plan_.steps.size(), &check);
}

void Program::Recorded::bind_addresses(Frame& frame, std::span<std::byte* const> inputs,
                                       std::span<std::byte* const> outputs) const {
  for (size_t i = 0; i < inputs.size(); i++) frame.buffers[inputs_.patches[i].buffer].data = inputs[i];
  for (size_t i = 0; i < outputs.size(); i++) frame.buffers[outputs_.patches[i].buffer].data = outputs[i];
}

// If there is no memory for the reason, the program is not recorded and gives no reason.
void Program::Recorded::check_recordable() noexcept {
  state_ = State::refused;
  try {
    why_ = why_not_recordable();
    if (why_.empty()) state_ = State::unrecorded;
  } catch (const std::bad_alloc&) {
  }
}

// First with the addresses of this call, which shows what kernels of our own alone use.
void Program::Recorded::try_to_record(Frame& frame, std::span<std::byte* const> inputs,
                                      std::span<std::byte* const> outputs) noexcept {
  const Ref<Status> failed = Ref<Status>::adopt(catch_as_status([&]() -> Status* {
    device_ = program_.accelerators_[1];
    bind_addresses(frame, inputs, outputs);
    if (Status* refused = record(frame)) return refused;
    const bool copies_inputs = divide_tensors(frame, inputs_), copies_outputs = divide_tensors(frame, outputs_);
    updates_.reserve(inputs_.parameters.size() + outputs_.parameters.size());
    is_updated_.assign(program_.plan_.steps.size(), false);
    return copies_inputs || copies_outputs ? record(frame) : nullptr;
  }));
  state_ = failed ? State::refused : State::recorded;
  if (!failed) return;
  try {
    why_ = failed->message();
  } catch (const std::bad_alloc&) {
    why_.clear();
  }
  recording_.reset();
  for (CallTensors* all : {&inputs_, &outputs_}) all->copied.clear(), all->parameters.clear(), all->on_host.clear();
}

std::string Program::Recorded::describe() const {
  switch (state_) {
    case State::first:
    case State::unrecorded: return "not recorded yet: the second call is";
    case State::refused: return cat("not recorded: ", why_);
    case State::recorded: break;
  }
  return cat("recorded: ", recording_->describe(), "; ", inputs_.copied.size(), " inputs and ",
             outputs_.copied.size(), " results are copied, ", bytes(), " bytes");
}

size_t Program::Recorded::bytes() const {
  size_t sum = 0;
  for (const CallTensors* all : {&inputs_, &outputs_})
    for (const StaticTensor& t : all->copied) sum += t.memory->bytes();
  return sum;
}

}  // namespace thunder
