// A compiled trace: a flat array of steps over planned memory. Built once, run by any number of threads at a time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

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
};

// An input as the program expects it; strides in elements.
struct InputPlan {
  TensorType type;
  Sizes strides;
  bool written = false;
};

struct Plan {
  std::vector<Step> steps;
  std::vector<BufferPlan> buffers;
  std::vector<int64_t> layouts;
  std::vector<InputPlan> inputs;
  std::vector<uint32_t> bound_inputs;  // those that some step reads or writes: a call binds no others
  std::vector<TensorType> outputs;
  size_t arena_bytes = 0;
  size_t constant_bytes = 0;
  size_t constant_steps = 0;  // the first steps depend on nothing: they run once, when the program is made
};

// A line of the trace, ready to run.
struct Prepared {
  Status* (*run)(const Launch*, void* state) = nullptr;
  void* state = nullptr;
  void (*drop)(void* state) = nullptr;  // may be null
  size_t scratch_bytes = 0;
};

// Makes lines ready; implemented by the executors. Lives as long as its program.
struct Preparer {
  virtual ~Preparer() = default;
  virtual Prepared prepare(const Node& node, const Store& store) = 0;
  // Whether the line's executor takes strided inputs; if not, it is given dense copies.
  virtual bool takes_strided(const Node& node) const = 0;
};

// Decides what is a view, where every value lives and which copies are needed. `strides` by input of the trace.
Plan plan_memory(const Trace& trace, const std::vector<Sizes>& strides, const Preparer& preparer);

class Program {
 public:
  // Requires: a claimed trace.
  Program(const Trace& trace, const std::vector<Sizes>& strides, std::unique_ptr<Preparer> preparer, const Allocator& allocator);
  ~Program();
  Program(const Program&) = delete;

  // inputs[i]: first element of input i; outputs[i]: dense memory of output i's type. Any thread. Null, or an owned
  // status that says which step failed.
  Status* run(void* const* inputs, void* const* outputs, void* native_stream) noexcept;

  const Plan& plan() const { return plan_; }
  const Trace& trace() const { return trace_; }
  size_t peak_bytes() const { return plan_.arena_bytes + plan_.constant_bytes; }

 private:
  // What one running call needs: its arena, and argument blocks that point into it.
  struct Frame {
    Ref<Storage> arena;
    std::vector<Buffer> buffers;
    std::vector<Launch> launches;
  };
  struct Patch {
    uint32_t buffer, index;
    int64_t offset;
  };
  void prepare_steps();
  std::unique_ptr<Frame> make_frame() const;
  Status* run_steps(Frame& frame, size_t begin, size_t end, void* stream) const noexcept;
  std::unique_ptr<Frame> acquire();
  void release(std::unique_ptr<Frame> frame);

  Trace trace_;
  Plan plan_;
  Allocator allocator_;
  std::unique_ptr<Preparer> preparer_;
  Ref<Storage> constants_;
  std::vector<Patch> input_patches_, output_patches_;
  std::vector<std::pair<void*, void (*)(void*)>> drops_;
  std::atomic<Frame*> spare_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> frames_;
};

}  // namespace thunder
