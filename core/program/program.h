// A compiled trace: a flat array of steps over planned memory. Built once, run by any number of threads at a time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "base/thrown.h"
#include "program/launch.h"
#include "tensor/tensor.h"

namespace thunder {

// Where a buffer's bytes are.
enum class Place : uint8_t { arena, input, output, constant };

struct BufferPlan {
  Place place = Place::arena;
  uint32_t index = 0;    // which input or output
  int64_t offset = 0;    // bytes from the start of the arena, the constants, or the tensor's first element
  DType dtype = DType::none;
  Device device = Device::cpu;
  int32_t rank = 0;      // -1: absent
  uint32_t layout = 0;   // where its sizes, then its strides begin in Plan::layouts
};

struct Step {
  Status* (*run)(const Launch*, void* state) = nullptr;
  void* state = nullptr;
  uint32_t first = 0, n_inputs = 0, n_outputs = 0;  // its buffers: inputs, then outputs
  int64_t scratch = -1;                             // arena offset, or none
  const Node* node = nullptr;                       // what it came from; null for a copy that the plan added
  int32_t follows = -1;                             // the input that the step before it makes, if it may run part by part after that one
  int32_t follower = -1;                            // among Plan::followers, or none
};

// An input as the program expects it; strides in elements.
struct InputPlan {
  TensorType type;
  Sizes strides;
  bool written = false;
};

// Where a value lies in the arena: for the report, not for running.
struct ArenaSlot {
  uint32_t value;       // k of t[k], as the trace prints
  int64_t offset;
  size_t bytes;
  size_t first, last;   // the lines, counted from 1, from the one that makes it to the last one that reads it
};

struct Plan {
  std::vector<Step> steps;
  std::vector<Step> followers;  // run by steps that lead
  std::vector<ArenaSlot> slots;
  std::vector<BufferPlan> buffers;
  std::vector<int64_t> layouts;
  std::vector<InputPlan> inputs;
  std::vector<DenseType> outputs;
  size_t arena_bytes = 0;
  size_t constant_bytes = 0;
  size_t constant_steps = 0;  // the first steps depend on nothing that changes: they run once, when the program is made
};

// A line of the trace, ready to run.
struct Prepared {
  Status* (*run)(const Launch*, void* state) = nullptr;
  void* state = nullptr;
  void (*drop)(void* state) = nullptr;  // may be null
  size_t scratch_bytes = 0;
  void (*run_tile)(const Launch*, const void* state, const Tile&) = nullptr;  // null: it runs as a whole
  // Told of the inputs that stay the same, which alone have data in the launch. May be null.
  Status* (*settle)(const Launch*, void* state, size_t* kept_bytes) = nullptr;
};

// Makes lines ready; implemented by the executors. Lives as long as its program.
struct Preparer {
  virtual ~Preparer() = default;
  // `inputs` and `outputs`: the layouts that the line will run with, without memory. `follows`: the input that the step before
  // it gives in parts; none: -1.
  virtual Prepared prepare(const Node& node, const Store& store, std::span<const Buffer> inputs, std::span<const Buffer> outputs, int32_t follows) = 0;
  // Whether the line's executor takes strided inputs; if not, it is given dense copies.
  virtual bool takes_strided(const Node& node) const = 0;
  // Whether the line may fail when it runs, so that nothing may have been stored before it.
  virtual bool may_fail(const Node&) const { return false; }
  // Whether the line's step runs a follower on each part of its first result; whether a line may be such a follower.
  virtual bool leads(const Node&) const { return false; }
  virtual bool may_follow(const Node&) const { return false; }
  // Whether a result may take the memory of an input whose elements it replaces one by one.
  virtual bool in_place(const Node& node) const = 0;
  // What the executor of a line that was prepared made of it, as text to read; "" where it says nothing.
  virtual std::string explain(const Node&, const void* /*state*/) const { return ""; }
};

// Decides what is a view, where every value lives and which copies are needed. `strides` by input of the trace.
Plan plan_memory(const Trace& trace, const std::vector<Sizes>& strides, const Preparer& preparer);

class Program {
 public:
  // Requires: a claimed trace. `fixed`: the addresses of its last inputs, whose memory is the same at every call.
  Program(const Trace& trace, const std::vector<Sizes>& strides, std::span<void* const> fixed, std::unique_ptr<Preparer> preparer,
          const Allocator& allocator, ThreadPool& threads);
  ~Program();
  Program(const Program&) = delete;

  // input(i): the first element of input i, of those that some step reads or writes and that are not fixed; output(i): dense memory of
  // output i's type. Neither throws. Any thread. Null, or an owned status that says which step failed.
  template <class Input, class Output>
  Status* run(const Input& input, const Output& output, void* native_stream) noexcept;

  // Runs once more what ran when the program was made: frozen inputs have changed. Requires: it is not running. Null, or an
  // owned status.
  Status* renew() noexcept;

  const Plan& plan() const { return plan_; }
  // How often it has run, or is running.
  uint64_t runs() const;
  const Trace& trace() const { return trace_; }
  // What its executor made of a step's line, as text to read; "" where it says nothing.
  std::string explain(const Step& step) const { return step.node ? preparer_->explain(*step.node, step.state) : ""; }
  size_t peak_bytes() const { return plan_.arena_bytes + plan_.constant_bytes + kept_bytes_; }
  // What steps keep of frozen inputs.
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  // What one running call needs: its arena, and argument blocks that point into it. Only who holds it changes it.
  struct Frame {
    Ref<Storage> arena;
    std::vector<Buffer> buffers;
    std::vector<Launch> launches;
    std::vector<Launch> follower_launches;
    std::vector<Follower> followers;
    void* stream = nullptr;          // that the launches name
    std::atomic<uint64_t> runs{0};   // by its holder alone: no locked instruction
    std::atomic<bool> busy{false};   // of the first frame
  };
  struct Patch {
    uint32_t buffer, index;
    int64_t offset;
  };
  void prepare_steps();
  Prepared prepare_step(Step& step, std::span<const Buffer> layouts);
  Launch launch_of(const Step& step, const Frame& frame) const;
  void find_patches();
  Buffer layout(const BufferPlan& b) const;  // without memory
  std::unique_ptr<Frame> make_frame() const;
  // Runs what runs once, and then lets the steps prepare for it.
  Status* run_once(Frame& frame);
  Status* settle(const Frame& frame, size_t step);
  Status* run_steps(const Frame& frame, size_t begin, size_t end) const noexcept;
  static Status* located(Status* failed, const Step& step) noexcept;
  // A frame that nobody else has meanwhile. Null: there is no memory for one, and `failed` says so.
  Frame* acquire(Status*& failed) noexcept;
  Frame* another_frame(Status*& failed) noexcept;
  void release(Frame& frame);
  void give_back(Frame& frame);
  static void set_stream(Frame& frame, void* stream);

  Trace trace_;
  Plan plan_;
  Allocator allocator_;
  ThreadPool& threads_;
  std::unique_ptr<Preparer> preparer_;
  Ref<Storage> constants_;
  std::vector<void*> fixed_;
  size_t n_given_;  // inputs before the fixed ones
  std::vector<Patch> input_patches_, output_patches_;
  std::vector<void (*)(const Launch*, const void*, const Tile&)> run_tiles_;  // by follower
  std::vector<decltype(Prepared::settle)> settles_;                          // by step; null: it does not ask
  std::atomic<size_t> kept_bytes_{0};
  std::vector<std::pair<void*, void (*)(void*)>> drops_;
  // The first frame serves calls that do not overlap; more are only made while they do.
  std::unique_ptr<Frame> first_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> more_;
  std::vector<Frame*> idle_;  // among `more_`
};

// The way of each call.

inline Program::Frame* Program::acquire(Status*& failed) noexcept {
  if (!first_->busy.load(std::memory_order_relaxed) && !first_->busy.exchange(true, std::memory_order_acquire)) [[likely]]
    return first_.get();
  return another_frame(failed);
}

inline void Program::release(Frame& frame) {
  if (&frame == first_.get()) [[likely]]
    frame.busy.store(false, std::memory_order_release);
  else
    give_back(frame);
}

// Caught once around all steps, which costs a call nothing: executors of callers may throw.
inline Status* Program::run_steps(const Frame& frame, size_t begin, size_t end) const noexcept {
  size_t i = begin;
  try {
    for (; i < end; i++) {
      const Step& step = plan_.steps[i];
      if (Status* failed = step.run(&frame.launches[i], step.state)) return located(failed, step);
    }
    return nullptr;
  } catch (...) {
    return located(status_of_thrown("it"), plan_.steps[i]);
  }
}

template <class Input, class Output>
Status* Program::run(const Input& input, const Output& output, void* stream) noexcept {
  Status* failed = nullptr;
  Frame* const frame = acquire(failed);
  if (!frame) return failed;
  frame->runs.store(frame->runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (stream != frame->stream) set_stream(*frame, stream);
  Buffer* const buffers = frame->buffers.data();
  for (const Patch& p : input_patches_) buffers[p.buffer].data = input(p.index) + p.offset;
  for (const Patch& p : output_patches_) buffers[p.buffer].data = output(p.index) + p.offset;
  failed = run_steps(*frame, plan_.constant_steps, plan_.steps.size());
  release(*frame);
  return failed;
}

}  // namespace thunder
