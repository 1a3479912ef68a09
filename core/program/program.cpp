#include "program/program.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

// One thread for now: a launch's work is done by the caller.
void serial_for(const Launch*, size_t n, void (*body)(size_t, size_t, void*), void* arg) {
  if (n) body(0, n, arg);
}

// What a step reports, with who ran it for which of the user's lines. A binding's own exception is handed back as it is.
Status* located(Status* failed, const Step& step) noexcept {
  if (!step.node || !step.node->executor || failed->has_foreign()) return failed;
  try {
    const Node& n = *step.node;
    const Ref<Status> owned = Ref<Status>::adopt(failed);
    const bool names_op = owned->message().starts_with(n.op->name());
    return make<Status>(owned->code(), cat(names_op ? "" : cat(n.op->name(), ": "), owned->message(), " [", n.where ? cat("at ", n.where, ", ") : "",
                                           "run by executor '", n.executor, "']")).detach();
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  }
}

}  // namespace

Program::Program(const Trace& trace, const std::vector<Sizes>& strides, std::unique_ptr<Preparer> preparer, const Allocator& allocator)
    : trace_(trace), plan_(plan_memory(trace, strides, *preparer)), allocator_(allocator), preparer_(std::move(preparer)) {
  try {
    prepare_steps();
    constants_ = Storage::allocate(allocator_, plan_.constant_bytes);
    for (uint32_t i = 0; i < plan_.buffers.size(); i++) {
      const BufferPlan& b = plan_.buffers[i];
      if (b.place == Place::input) {
        input_patches_.push_back({i, b.index, b.offset});
        plan_.bound_inputs.push_back(b.index);
      }
      if (b.place == Place::output) output_patches_.push_back({i, b.index, b.offset});
    }
    std::sort(plan_.bound_inputs.begin(), plan_.bound_inputs.end());
    plan_.bound_inputs.erase(std::unique(plan_.bound_inputs.begin(), plan_.bound_inputs.end()), plan_.bound_inputs.end());
    auto frame = make_frame();
    if (Status* failed = run_steps(*frame, 0, plan_.constant_steps, nullptr)) throw Error(Ref<Status>::adopt(failed));
    release(std::move(frame));
  } catch (...) {
    for (auto& [state, drop] : drops_) drop(state);
    throw;
  }
}

Program::~Program() {
  delete spare_.load();
  for (auto& [state, drop] : drops_) drop(state);
}

void Program::prepare_steps() {
  for (Step& step : plan_.steps) {
    if (!step.node) continue;
    const Prepared p = preparer_->prepare(*step.node, *trace_.store);
    if (p.drop) drops_.emplace_back(p.state, p.drop);
    step.run = p.run;
    step.state = p.state;
    if (!p.scratch_bytes) continue;
    step.scratch = static_cast<int64_t>(plan_.arena_bytes);
    plan_.arena_bytes += (p.scratch_bytes + kAlign - 1) / kAlign * kAlign;
  }
}

std::unique_ptr<Program::Frame> Program::make_frame() const {
  auto frame = std::make_unique<Frame>();
  frame->arena = Storage::allocate(allocator_, plan_.arena_bytes);
  for (const BufferPlan& b : plan_.buffers) {
    Buffer buffer;
    buffer.shape = plan_.layouts.data() + b.layout;
    buffer.strides = buffer.shape + std::max(b.rank, 0);
    buffer.rank = b.rank;
    buffer.dtype = b.dtype;
    buffer.device = b.device;
    if (b.rank >= 0 && b.place == Place::arena) buffer.data = frame->arena->data() + b.offset;
    if (b.rank >= 0 && b.place == Place::constant) buffer.data = constants_->data() + b.offset;
    frame->buffers.push_back(buffer);
  }
  for (const Step& s : plan_.steps) {
    Launch launch;
    launch.inputs = frame->buffers.data() + s.first;
    launch.n_inputs = s.n_inputs;
    launch.outputs = launch.inputs + s.n_inputs;
    launch.n_outputs = s.n_outputs;
    launch.scratch = s.scratch < 0 ? nullptr : frame->arena->data() + s.scratch;
    launch.parallel_for = serial_for;
    frame->launches.push_back(launch);
  }
  return frame;
}

// One spare frame changes hands without a lock; more only exist while calls overlap.
std::unique_ptr<Program::Frame> Program::acquire() {
  if (Frame* spare = spare_.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Frame>(spare);
  {
    std::lock_guard lock(mutex_);
    if (!frames_.empty()) {
      auto frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  return make_frame();
}

void Program::release(std::unique_ptr<Frame> frame) {
  Frame* expected = nullptr;
  if (spare_.compare_exchange_strong(expected, frame.get(), std::memory_order_release, std::memory_order_relaxed)) {
    frame.release();
    return;
  }
  std::lock_guard lock(mutex_);
  frames_.push_back(std::move(frame));
}

Status* Program::run_steps(Frame& frame, size_t begin, size_t end, void* stream) const noexcept {
  for (size_t i = begin; i < end; i++) {
    const Step& step = plan_.steps[i];
    if (stream) frame.launches[i].native_stream = stream;
    if (Status* failed = step.run(&frame.launches[i], step.state)) return located(failed, step);
  }
  return nullptr;
}

Status* Program::run(void* const* inputs, void* const* outputs, void* stream) noexcept {
  try {
    auto frame = acquire();
    for (const Patch& p : input_patches_) frame->buffers[p.buffer].data = static_cast<std::byte*>(inputs[p.index]) + p.offset;
    for (const Patch& p : output_patches_) frame->buffers[p.buffer].data = static_cast<std::byte*>(outputs[p.index]) + p.offset;
    Status* failed = run_steps(*frame, plan_.constant_steps, plan_.steps.size(), stream);
    release(std::move(frame));
    return failed;
  } catch (const Error& e) {
    return Ref<Status>(e.status()).detach();
  } catch (...) {
    return out_of_memory_status();
  }
}

}  // namespace thunder
