// A compiled trace: a flat array of steps over planned memory. Built once, run by any number of threads at a time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "base/interrupts.h"
#include "base/thrown.h"
#include "device/arenas.h"
#include "device/devices.h"
#include "ir/stage_traces.h"
#include "ir/symbolic/substitution.h"
#include "program/kernels.h"
#include "program/launch.h"
#include "program/plan.h"
#include "tensor/tensor.h"

namespace thunder {

// Places the values of a device's arena anew, among them the scratch memory of its steps.
void place_scratch(Plan& plan, uint32_t arena);
// The devices of the arenas; the CPU's is null. Throws where there is no such device.
std::vector<Accelerator*> accelerators_of(const Plan& plan, Devices& devices);

class Program {
 public:
  // What the steps' kernels and nodes need.
  struct Needed {
    std::shared_ptr<const ViewKernels> executors;
    std::shared_ptr<const SizedLines> lines;  // of a class of sizes; else null
  };
  // Made by a ProgramBuilder. `traces`: the user's first, the one that it was made of last. `fixed`: the addresses of
  // its last inputs, whose memory is the same at every call.
  Program(StageTraces traces, Needed needed, Plan plan, std::span<void* const> fixed, Devices& devices,
          ThreadPool& threads);
  ~Program();
  Program(const Program&) = delete;

  // input(i): the address of input i's first element; it is called for inputs that some step reads or writes and that
  // are not fixed. output(i): dense memory of output i's type. Neither throws. Any thread. Null, or an owned status
  // that names the step which failed. An interrupt stops the run before the first step that changes an input, or an
  // output if those are the caller's tensors; after that it runs to its end.
  template <class Input, class Output>
  Status* run(const Input& input, const Output& output, InterruptCheck& check, bool callers_outputs) noexcept;

  // Runs again the steps that ran when the program was made, because frozen inputs have changed. Requires: it is not
  // running. Null, or an owned status.
  Status* rerun_constant_steps() noexcept;

  // Lets calls that do not overlap launch their steps on a CUDA device as one recorded graph, from the second on.
  // Before the first run.
  void enable_recording();
  // A description of the recording, or why there is none; empty without enable_recording().
  std::string recording_report() const;
  // Frees a call's memory until the next one, if no call is running and the program uses the CPU alone. Any thread.
  void release_idle_memory() noexcept;

  const Plan& plan() const { return plan_; }
  uint64_t runs() const;  // that were begun
  const Trace& trace() const { return traces_.back(); }
  const Trace& written_trace() const { return traces_.front(); }  // the user's, of which it was made
  uint64_t bytes_of(const BufferPlan& b) const;
  // A step's kernel as text for a user; "" if it has no text.
  static std::string explain(const Step& step);
  // The bytes of a device's memory that a call and the program's constants take at most.
  size_t peak_bytes(Device device = Device::cpu) const;
  // What it keeps while no call runs, on all devices.
  size_t constant_bytes() const;
  // Devices other than the CPU, whose work may still be in progress when run() returns.
  std::span<Accelerator* const> accelerators() const { return std::span(accelerators_).subspan(1); }
  // The CPU's memory that holds the results of the steps that ran once.
  std::span<const std::byte> constants() const { return {constants_[0]->data(), plan_.arenas[0].constant_bytes}; }
  size_t kept_bytes() const { return kept_bytes_; }  // of packed frozen inputs
  size_t plan_bytes() const;  // of the plan, and of the arguments of one call's steps
  double plan_ms() const { return plan_.library_ms; }  // that libraries took to make plans, in threads of their own

 private:
  // The state of a running call: its arena, and argument blocks that point into it. It belongs to one call at a time.
  struct Frame {
    std::vector<Ref<Storage>> arenas;
    std::vector<std::byte*> placed;  // where they were when the buffers got their addresses
    bool owns = true;                // they stay with it; else each call takes them from those of all programs
    std::vector<Buffer> buffers;
    std::vector<Launch> launches;
    std::vector<Launch> epilogue_launches;
    std::vector<Epilogue> epilogues;
    // Only the call that holds the frame changes it, so no locked instruction is needed.
    std::atomic<uint64_t> runs{0};
    std::atomic<bool> busy{false};  // of the first frame
  };
  struct Patch {
    uint32_t buffer, index;
    int64_t offset;
  };
  class Recorded;
  friend class Recorded;
  Status* run_recorded(Frame& frame, InterruptCheck& check) noexcept;
  Launch launch_of(const Step& step, const Frame& frame) const;
  void* scratch_of(const Step& step, const Frame& frame) const;
  void find_patches();
  std::unique_ptr<Frame> make_frame() const;
  // Shares memory for calls with other programs, if it needs much.
  void share_arenas();
  void unshare_arenas() noexcept;
  void allocate_arenas(Frame& frame) const;  // gives it arenas
  void bind_arenas(Frame& frame) const;
  Frame* borrow_arenas(Frame* frame, Status*& failed) noexcept;
  void return_arenas(Frame& frame) noexcept;
  // Runs the steps that run once, then lets steps pack frozen inputs.
  Status* run_constant_steps(Frame& frame);
  Status* prepack(const Frame& frame, size_t at);
  // `check` is asked before each step up to `stoppable`.
  Status* run_steps(const Frame& frame, size_t begin, size_t stoppable, size_t end,
                    InterruptCheck* check) const noexcept;
  // Up to which step an interrupt may stop a run, and how many bytes each step touches.
  void find_stoppable();
  // Like run_steps(), with each step reported to the call's watch.
  Status* run_watched(const Frame& frame, size_t stoppable, InterruptCheck& check) const noexcept;
  Status* watch_step(const Frame& frame, size_t at, StepWatch& watch, bool closely) const;
  static Status* describe_stop(Status* why, const Step& next) noexcept;
  Status* add_location(Status* failed, const Step& step) const noexcept;
  // Acquires a frame that no other call uses. Null: out of memory, and `failed` has the error.
  Frame* acquire(Status*& failed) noexcept;
  Frame* acquire_frame(Status*& failed) noexcept;  // it may have no arenas yet
  Frame* wake_or_make_frame(Status*& failed) noexcept;
  void release(Frame& frame);
  void add_idle_frame(Frame& frame);
  std::vector<Ref<Storage>> allocate(size_t DeviceArena::*bytes) const;

  StageTraces traces_;
  Needed needed_;  // outlives the plan
  Plan plan_;
  Devices& devices_;
  std::vector<Accelerator*> accelerators_;  // by arena; the CPU's is null
  std::vector<std::shared_ptr<Arenas>> shared_arenas_;  // by arena; none: each frame has its own
  ThreadPool& threads_;
  std::vector<Ref<Storage>> constants_;  // by arena
  std::vector<void*> fixed_;
  size_t n_given_;  // inputs before the fixed ones
  // The number of steps up to and with the first one that changes an input; one that changes an input or an output.
  size_t stoppable_ = 0, stoppable_with_outputs_ = 0;
  std::vector<Patch> input_patches_, output_patches_;
  std::atomic<size_t> kept_bytes_{0};
  std::unique_ptr<Recorded> recorded_;       // of the first frame; null: calls go step by step
  std::vector<std::byte*> given_, asked_;  // by patch, of the call that has the first frame, if there is `recorded_`
  // The first frame serves calls that do not overlap; more are made only for calls that do.
  std::unique_ptr<Frame> first_;
  mutable std::mutex mutex_;
  bool resting_ = false;  // the first frame is taken, and has no arena
  std::vector<std::unique_ptr<Frame>> more_;
  std::vector<Frame*> idle_;  // among `more_`
};

// The path of each call.
inline Program::Frame* Program::acquire(Status*& failed) noexcept {
  if (!shared_arenas_.empty()) return borrow_arenas(acquire_frame(failed), failed);
  return acquire_frame(failed);
}

inline Program::Frame* Program::acquire_frame(Status*& failed) noexcept {
  if (!first_->busy.load(std::memory_order_relaxed) && !first_->busy.exchange(true, std::memory_order_acquire))
      [[likely]]
    return first_.get();
  return wake_or_make_frame(failed);
}

inline void Program::release(Frame& frame) {
  if (!shared_arenas_.empty()) return_arenas(frame);
  if (&frame == first_.get()) [[likely]]
    frame.busy.store(false, std::memory_order_release);
  else
    add_idle_frame(frame);
}

// One exception handler around all steps, which costs a call nothing: executors of callers may throw.
inline Status* Program::run_steps(const Frame& frame, size_t begin, size_t stoppable, size_t end,
                                  InterruptCheck* check) const noexcept {
  size_t i = begin;
  try {
    for (; i < stoppable; i++) {
      const Step& step = plan_.steps[i];
      if (Status* why = check->before_step(step.bytes)) return describe_stop(why, step);
      if (Status* failed = step.call(&frame.launches[i])) return add_location(failed, step);
    }
    for (; i < end; i++) {
      const Step& step = plan_.steps[i];
      if (Status* failed = step.call(&frame.launches[i])) return add_location(failed, step);
    }
    return nullptr;
  } catch (...) {
    return add_location(status_of_thrown("it"), plan_.steps[i]);
  }
}

template <class Input, class Output>
Status* Program::run(const Input& input, const Output& output, InterruptCheck& check, bool callers_outputs) noexcept {
  Status* failed = nullptr;
  Frame* const frame = acquire(failed);
  if (!frame) return failed;
  frame->runs.store(frame->runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (recorded_ && frame == first_.get() && !check.watched_closely()) [[unlikely]] {
    for (size_t i = 0; i < input_patches_.size(); i++)
      given_[i] = input(input_patches_[i].index) + input_patches_[i].offset;
    for (size_t i = 0; i < output_patches_.size(); i++)
      asked_[i] = output(output_patches_[i].index) + output_patches_[i].offset;
    failed = run_recorded(*frame, check);
    release(*frame);
    return failed;
  }
  Buffer* const buffers = frame->buffers.data();
  for (const Patch& p : input_patches_) buffers[p.buffer].data = input(p.index) + p.offset;
  for (const Patch& p : output_patches_) buffers[p.buffer].data = output(p.index) + p.offset;
  const size_t stoppable = callers_outputs ? stoppable_with_outputs_ : stoppable_;
  if (check.watch()) [[unlikely]]
    failed = run_watched(*frame, stoppable, check);
  else
    failed = run_steps(*frame, plan_.constant_steps, stoppable, plan_.steps.size(), &check);
  release(*frame);
  return failed;
}

}  // namespace thunder
