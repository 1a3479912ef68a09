// The plan of a program: its steps, and the memory of the values that they read and write.
#pragma once

#include <vector>

#include "program/arena/arena_plan.h"
#include "program/kernel.h"
#include "tensor/tensor.h"

namespace thunder {

// The kind of memory that holds a buffer.
enum class Place : uint8_t { arena, input, output, constant };

// There are thousands in a program: its members are ordered to leave no gap.
struct BufferPlan {
  int64_t offset = 0;    // bytes from the start of the arena, the constants, or the tensor's first element
  uint32_t index = 0;    // which input, output, or arena (of the arena itself, and of its constants)
  uint32_t layout = 0;   // where its sizes, then its strides begin in Plan::layouts
  int32_t request = -1;  // of the arena: which of its requests; -1: none
  DType dtype = DType::none;
  Device device = Device::cpu;
  Place place = Place::arena;
  int8_t rank = 0;       // -1: absent
};
static_assert(sizeof(BufferPlan) == 32);

// What a plan says of a step before it has a kernel.
struct PlannedStep {
  int32_t line = -1;  // the node of the trace that it was made of; -1: a copy that the plan added
  uint32_t first = 0, n_inputs = 0, n_outputs = 0;  // its buffers: inputs, then outputs
  uint32_t arena = 0;  // of the device that it runs on
  size_t time = 0;  // when it runs, as requests of arenas count
  // The input that the step before it computes, if it may run as that step's epilogue; -1: none.
  int32_t epilogue_input = -1;
};

struct Step : PlannedStep {
  KernelCall call;
  uint32_t bytes = 0;  // sum over all its buffers, clamped to [4096, UINT32_MAX]
  int64_t scratch = -1;  // offset in its arena, or -1
  size_t scratch_bytes = 0;
  uint32_t follows = 0;  // how many steps before it is the one whose launch computes it too; 0: none
  const Node* node = nullptr;  // that line; null: a copy
  std::shared_ptr<Kernel> kernel;  // of the node; steps of lines that are alike may have one
  KernelPtr joined;  // runs in its place, and computes the steps that follow it too; null: it is alone, or follows
  int32_t epilogue = -1;  // index in Plan::epilogues, or -1
};

// The layout of an input that the program expects; strides in elements.
struct InputPlan {
  TensorType type;
  Sizes strides;
  bool written = false;
  bool donated = false;  // once it has been read for the last time, its memory is the program's
  bool frozen = false;   // as the trace's: what depends on such inputs alone is computed once
};

// How the inputs of a trace come to its program.
struct InputLayouts {
  std::vector<Sizes> strides;
  std::vector<bool> donated;
};

// A value's range in the arena, for the report only.
struct ArenaSlot {
  ValueId value;
  uint32_t arena;
  int64_t offset;
  size_t bytes;
  size_t first, last;  // its live range, in nodes of the trace
  size_t request;      // which of the arena's requests
};

// The memory that a program needs on one device.
struct DeviceArena {
  Device device = Device::cpu;
  size_t bytes = 0;           // of one call
  size_t constant_bytes = 0;  // of the program
  std::vector<ArenaRequest> requests = {};  // what lies in it, ordered by first
};

struct Plan {
  std::vector<Step> steps;
  std::vector<Step> epilogues;  // they run inside the steps that they are the epilogues of
  std::vector<ArenaSlot> slots;
  std::vector<BufferPlan> buffers;
  std::vector<int64_t> layouts;
  std::vector<InputPlan> inputs;
  std::vector<DenseType> outputs;
  std::vector<DeviceArena> arenas = {{}};  // the CPU's, then those of other devices that the trace names
  size_t in_donated = 0;  // bytes of values that lie in the memory of donated inputs
  std::vector<ValueId> channels_last;  // sorted: results that lie as [N, H, W, C]
  bool may_fail = false;  // some node may fail when it runs: because of its data, or because it runs a caller's code
  double library_ms = 0;  // that libraries took to plan their kernels, in threads of their own
  size_t constant_steps = 0;  // the first steps depend on nothing that changes: they run once, when the program is made
};

// A buffer of the plan, without memory. The plan must outlive it.
Buffer buffer_of(const Plan& plan, const BufferPlan& b);

}  // namespace thunder
