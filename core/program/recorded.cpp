#include "program/recorded.h"

#include "base/text.h"

namespace thunder {
namespace {

constexpr size_t kNumberBytes = 16;  // of a tensor on the CPU that a kernel gets by value

}  // namespace

// Steps on the CPU must not wait for the device.
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
    if (step.node && program_.preparer_->may_fail(*step.node)) return refuse("is run by an executor of the caller's");
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

// A tensor is as large as its input's or output's plan says, whatever views of it the steps read.
void Program::Recorded::fix(std::vector<Fixed>& all, const std::vector<Patch>& patches, bool output) {
  for (const Patch& p : patches) {
    const BufferPlan& b = program_.plan_.buffers[p.buffer];
    if (b.device == Device::cpu || fixed(all, p.index)) continue;
    Fixed f{p.index, b.device, false, b.dtype, {}, {}, {}};
    size_t bytes = 0;
    if (output) {
      const DenseType& type = program_.plan_.outputs[p.index];
      bytes = type.bytes, f.dtype = type.type.dtype, f.sizes = concrete(type.type.shape), f.steps = dense_strides(f.sizes);
    } else {
      const InputPlan& type = program_.plan_.inputs[p.index];
      f.written = type.written, f.dtype = type.type.dtype, f.sizes = concrete(type.type.shape), f.steps = type.strides;
      // Of elements that lie at one place, one is copied.
      for (size_t d = 0; d < f.sizes.size(); d++)
        if (f.steps[d] == 0 && f.sizes[d] > 1) f.sizes[d] = 1;
      const Extent e = extent(f.sizes, f.steps, size_of(f.dtype));
      if (e.begin < 0) fail(Code::unimplemented, "input ", p.index, " has negative strides");
      bytes = static_cast<size_t>(e.end);
    }
    for (int64_t& step : f.steps) step *= static_cast<int64_t>(size_of(f.dtype));
    f.memory = Storage::allocate(program_.devices_.allocator(b.device), std::max<size_t>(bytes, 1));
    all.push_back(std::move(f));
  }
}

const Program::Recorded::Fixed* Program::Recorded::fixed(const std::vector<Fixed>& all, uint32_t index) const {
  for (const Fixed& f : all)
    if (f.index == index) return &f;
  return nullptr;
}

// Where each step finds inputs or outputs: at the places of `all`, others at the caller's. Null: all of them at the caller's.
void Program::Recorded::bind(Frame& frame, const std::vector<Patch>& patches, std::span<std::byte* const> callers, const std::vector<Fixed>* all) const {
  for (size_t i = 0; i < patches.size(); i++) {
    const Fixed* f = all ? fixed(*all, patches[i].index) : nullptr;
    frame.buffers[patches[i].buffer].data = f ? f->memory->data() + patches[i].offset : callers[i];
  }
}

Status* Program::Recorded::copy(const Fixed& f, const std::vector<Patch>& patches, std::span<std::byte* const> callers, bool back) const {
  for (size_t i = 0; i < patches.size(); i++) {
    if (patches[i].index != f.index) continue;
    const StridedBytes there = f.at(callers[i] - patches[i].offset), here = f.at(f.memory->data());
    return back ? device_->copy(here, there, size_of(f.dtype)) : device_->copy(there, here, size_of(f.dtype));
  }
  return nullptr;
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
  for (size_t i = plan.constant_steps; i < plan.steps.size(); i++)
    if (plan.steps[i].arena && reads_host(plan.steps[i]) && !recording_->replaceable(i))
      return make<Status>(Code::failed_precondition, cat(plan.steps[i].node ? plan.steps[i].node->op->name() : "a copy", " reads a number of the CPU's")).detach();
  return nullptr;
}

Status* Program::Recorded::launch(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, InterruptCheck& check) {
  const Plan& plan = program_.plan_;
  if (Status* why = check.before_step(UINT32_MAX)) return stopped(why, plan.steps[plan.constant_steps]);
  for (const Fixed& f : inputs_)
    if (Status* failed = copy(f, program_.input_patches_, inputs, false)) return failed;
  for (size_t i = plan.constant_steps; i < plan.steps.size(); i++) {
    const Step& step = plan.steps[i];
    if (step.arena && !reads_host(step)) continue;
    if (step.arena) recording_->replace(i);
    Status* const failed = step.run(&frame.launches[i], step.state);
    if (step.arena) recording_->stop_replacing();
    if (failed) return program_.located(failed, step);
  }
  if (Status* failed = recording_->launch()) return failed;
  for (const Fixed& f : inputs_)
    if (f.written)
      if (Status* failed = copy(f, program_.input_patches_, inputs, true)) return failed;
  for (const Fixed& f : outputs_)
    if (Status* failed = copy(f, program_.output_patches_, outputs, true)) return failed;
  return nullptr;
}

// The first call runs step by step, so that libraries load what they need; the second is recorded.
Status* Program::Recorded::run(Frame& frame, std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, InterruptCheck& check) noexcept {
  if (state_ == State::first) why_ = obstacle(), state_ = why_.empty() ? State::unrecorded : State::refused;
  else if (state_ == State::unrecorded) {
    Ref<Status> failed = Ref<Status>::adopt(caught([&]() -> Status* {
      device_ = program_.accelerators_[1];
      fix(inputs_, program_.input_patches_, false), fix(outputs_, program_.output_patches_, true);
      bind(frame, program_.input_patches_, inputs, &inputs_), bind(frame, program_.output_patches_, outputs, &outputs_);
      return record(frame);
    }));
    state_ = failed ? State::refused : State::recorded;
    if (failed) {
      why_ = failed->message();
      recording_.reset(), inputs_.clear(), outputs_.clear();
    }
  }
  if (state_ == State::recorded) {
    // What is not at a place of its own, a call gives anew: the CPU's tensors.
    bind(frame, program_.input_patches_, inputs, &inputs_), bind(frame, program_.output_patches_, outputs, &outputs_);
    return caught([&] { return launch(frame, inputs, outputs, check); });
  }
  bind(frame, program_.input_patches_, inputs, nullptr), bind(frame, program_.output_patches_, outputs, nullptr);
  const size_t steps = program_.plan_.steps.size();
  return program_.run_steps(frame, program_.plan_.constant_steps, program_.stoppable_with_outputs_, steps, &check);
}

std::string Program::Recorded::describe() const {
  switch (state_) {
    case State::first:
    case State::unrecorded: return "not recorded yet: the second call is";
    case State::refused: return cat("not recorded: ", why_);
    case State::recorded: break;
  }
  return cat("recorded: ", recording_->describe(), "; ", inputs_.size(), " inputs and ", outputs_.size(), " results are copied, ", bytes(), " bytes");
}

size_t Program::Recorded::bytes() const {
  size_t sum = 0;
  for (const std::vector<Fixed>* all : {&inputs_, &outputs_})
    for (const Fixed& f : *all) sum += f.memory->bytes();
  return sum;
}

}  // namespace thunder
