// Frames: the memory, buffers and launches of one call, so that several calls of a program can run at the same time.
#include "program/program.h"

namespace thunder {
namespace {

// Programs with smaller arenas keep arenas of their own: sharing costs each call more than it saves.
constexpr size_t kOwnArenas = size_t{1} << 20;

Status* parallel_for(const Launch* launch, int64_t n, int64_t grain, ThreadPool::Body body, void* arg) {
  return launch->threads->parallel_for(n, grain, body, arg);
}

}  // namespace

std::vector<Ref<Storage>> Program::allocate(size_t DeviceArena::*bytes) const {
  std::vector<Ref<Storage>> out;
  for (const DeviceArena& a : plan_.arenas) out.push_back(Storage::allocate(devices_.allocator(a.device), a.*bytes));
  return out;
}

Launch Program::launch_of(const Step& s, const Frame& frame) const {
  Launch launch;
  launch.inputs = frame.buffers.data() + s.first;
  launch.n_inputs = s.n_inputs;
  launch.outputs = launch.inputs + s.n_inputs;
  launch.n_outputs = s.n_outputs;
  if (accelerators_[s.arena]) launch.native_stream = accelerators_[s.arena]->native_stream();
  launch.parallel_for = parallel_for;
  launch.threads = &threads_;
  return launch;
}

void* Program::scratch_of(const Step& s, const Frame& frame) const {
  return s.scratch < 0 ? nullptr : frame.arenas[s.arena]->data() + s.scratch;
}

void Program::share_arenas() {
  size_t bytes = 0;
  for (const DeviceArena& a : plan_.arenas) bytes += a.bytes;
  if (bytes <= kOwnArenas) return;
  for (const DeviceArena& a : plan_.arenas) shared_arenas_.push_back(Arenas::shared_for(devices_.allocator(a.device)));
  for (size_t i = 0; i < plan_.arenas.size(); i++) shared_arenas_[i]->add(plan_.arenas[i].bytes);
}

void Program::unshare_arenas() noexcept {
  for (size_t i = 0; i < shared_arenas_.size(); i++) shared_arenas_[i]->remove(plan_.arenas[i].bytes);
}

void Program::allocate_arenas(Frame& frame) const {
  frame.arenas = allocate(&DeviceArena::bytes);
  bind_arenas(frame);
}

Program::Frame* Program::borrow_arenas(Frame* frame, Status*& failed) noexcept {
  if (!frame || frame->owns) return frame;
  try {
    for (size_t i = 0; i < shared_arenas_.size(); i++)
      frame->arenas.push_back(shared_arenas_[i]->take(plan_.arenas[i].bytes));
    bool moved = frame->placed.empty();
    for (size_t i = 0; i < frame->placed.size(); i++) moved |= frame->placed[i] != frame->arenas[i]->data();
    if (moved) bind_arenas(*frame);
    return frame;
  } catch (...) {
    failed = status_of_internal();
  }
  release(*frame);
  return nullptr;
}

void Program::return_arenas(Frame& frame) noexcept {
  if (frame.owns) return;
  for (size_t i = 0; i < frame.arenas.size(); i++) shared_arenas_[i]->give_back(std::move(frame.arenas[i]));
  frame.arenas.clear();
}

void Program::bind_arenas(Frame& frame) const {
  frame.placed.clear();
  for (const Ref<Storage>& arena : frame.arenas) frame.placed.push_back(arena->data());
  for (size_t i = 0; i < plan_.buffers.size(); i++) {
    const BufferPlan& b = plan_.buffers[i];
    if (b.rank >= 0 && b.place == Place::arena) frame.buffers[i].data = frame.arenas[b.index]->data() + b.offset;
  }
  for (size_t i = 0; i < plan_.epilogues.size(); i++)
    frame.epilogue_launches[i].scratch = scratch_of(plan_.epilogues[i], frame);
  for (size_t i = 0; i < plan_.steps.size(); i++) frame.launches[i].scratch = scratch_of(plan_.steps[i], frame);
}

void Program::release_idle_memory() noexcept {
  std::lock_guard lock(mutex_);
  if (resting_ || !shared_arenas_.empty() || !accelerators().empty()) return;
  if (first_->busy.exchange(true, std::memory_order_acquire)) return;
  first_->arenas.clear();
  resting_ = true;
}

std::unique_ptr<Program::Frame> Program::make_frame() const {
  auto frame = std::make_unique<Frame>();
  frame->buffers.reserve(plan_.buffers.size());
  frame->launches.reserve(plan_.steps.size());
  for (const BufferPlan& b : plan_.buffers) {
    Buffer buffer = buffer_of(plan_, b);
    if (b.rank >= 0 && b.place == Place::constant) buffer.data = constants_[b.index]->data() + b.offset;
    if (b.place == Place::input && b.index >= n_given_)
      buffer.data = static_cast<std::byte*>(fixed_[b.index - n_given_]) + b.offset;
    frame->buffers.push_back(buffer);
  }
  for (const Step& s : plan_.epilogues) frame->epilogue_launches.push_back(launch_of(s, *frame));
  for (size_t i = 0; i < plan_.epilogues.size(); i++)
    frame->epilogues.push_back({plan_.epilogues[i].kernel.get(), &frame->epilogue_launches[i]});
  for (const Step& s : plan_.steps) {
    frame->launches.push_back(launch_of(s, *frame));
    if (s.epilogue >= 0) frame->launches.back().epilogue = &frame->epilogues[static_cast<size_t>(s.epilogue)];
  }
  frame->owns = shared_arenas_.empty();
  if (frame->owns) allocate_arenas(*frame);
  return frame;
}

Program::Frame* Program::wake_or_make_frame(Status*& failed) noexcept {
  try {
    std::lock_guard lock(mutex_);
    if (resting_) {
      allocate_arenas(*first_);
      resting_ = false;
      return first_.get();
    }
    if (idle_.empty()) {
      idle_.reserve(more_.size() + 1);  // so that `give_back` cannot fail
      return more_.emplace_back(make_frame()).get();
    }
    Frame* frame = idle_.back();
    idle_.pop_back();
    return frame;
  } catch (...) {
    failed = status_of_internal();
  }
  return nullptr;
}

void Program::add_idle_frame(Frame& frame) {
  std::lock_guard lock(mutex_);
  idle_.push_back(&frame);
}

uint64_t Program::runs() const {
  std::lock_guard lock(mutex_);
  uint64_t sum = first_->runs.load(std::memory_order_relaxed);
  for (auto& frame : more_) sum += frame->runs.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace thunder
