// The kernel that an executor makes for a node. It is owned by the step that runs it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ir/symbolic/size.h"
#include "ir/trace.h"
#include "program/launch.h"
#include "program/memory_format.h"

namespace thunder {

struct CompileSettings;

// State, of any type, that a fusion executor keeps for a claimed region until it prepares it. Null: none.
using RegionState = std::shared_ptr<void>;

// A node as executors see it.
struct NodeView {
  const Node& node;
  const Store& store;
  const CompileSettings& settings;  // of the compile
  // Set for adapt_to_layouts: the layouts that its tensors will have, without memory, in the order of Launch. Otherwise
  // empty.
  std::span<const Buffer> inputs = {};
  std::span<const Buffer> outputs = {};
  // Set for adapt_to_layouts: the input of whose step the program would run the kernel as an epilogue: tile by tile, as
  // soon as a tile of this input is computed. -1: it runs as a whole, after that step.
  int32_t epilogue_input = -1;
  // Set for adapt_to_layouts: the program is one of many of one class of sizes, for each of which it is called.
  bool is_of_class = false;
  // Set for prepare of a region: the state that its executor set when it claimed exactly these nodes. Null: none.
  RegionState state = nullptr;
};

// Where the elements of a tensor lie: numbers, or formulas of symbols. Strides are in elements.
struct TensorLayout {
  DType dtype = DType::none;
  std::vector<Size> sizes, strides;
  Size elements() const {
    Size n = 1;
    for (const Size& s : sizes) n *= s;
    return n;
  }
};

// A line as it is laid out, whose sizes may be symbols.
struct LineView {
  const Node& node;
  const Store& store;
  std::vector<TensorLayout> inputs, outputs;  // in the order of Launch
  int32_t epilogue_input = -1;  // as NodeView::epilogue_input
  // The same line with the symbols of its class; it lives as long as programs of the class.
  const Node* of_class = nullptr;
};

enum KernelFlag : uint32_t {
  kStrided = 1,       // takes strided inputs; others get dense row-major copies
  kCallerThread = 2,  // must run on the thread that called
  kInPlace = 4,       // of a region of elementwise nodes: reads an element of every input before it writes that one
  kMayFail = 1 << 16,       // may fail when it runs, so that nothing may be stored before; set for all of callers
  kRunsEpilogue = 1 << 17,  // runs the launch's epilogue on each tile of its first result
  kRunsTiles = 1 << 18,     // may be such an epilogue: adapt_to_layouts looks whether it can
  kStarts = 1 << 19,  // only starts what it does: its operands are read as long as its results live
  kPacks = 1 << 20,   // packs frozen inputs
  kShareable = 1 << 21,  // steps whose lines are alike, and whose tensors lie alike, may have one kernel
};

// The function that a step calls. It is the hot path: no handles, no allocation, no exceptions. Any number of threads
// at a time. Owned status: the call fails with its code and message.
struct KernelCall {
  Status* (*run)(const Launch*, void* state) = nullptr;
  void* state = nullptr;
  Status* operator()(const Launch* launch) const { return run(launch, state); }
};

class KernelOfClass;

// The functions that make a kernel ready are called while its program is made, by one thread, and may throw. Where
// finish_compiling() throws Code::declined, kernels are made again, and the executor must then decline the node at
// once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  bool has(KernelFlag flag) const { return flags_ & flag; }
  void add_flags(uint32_t flags) { flags_ |= flags; }
  uint32_t flags() const { return flags_; }
  // Once it is laid out.
  const KernelCall& call() const { return call_; }

  // Whether it writes this result in any order of its dims, as the strides say that adapt_to_layouts() gets: it then
  // lies as its readers want it. Other results are dense and row-major.
  virtual bool orders_result(size_t /*number*/) const { return false; }
  // The order in which it reads and writes tensors of four dims fastest. Unless that is `contiguous`, it writes results
  // in either order, as the strides say.
  virtual MemoryFormat memory_format() const { return MemoryFormat::contiguous; }
  // Called once memory is planned: adapts it to the layouts. May be called again, for others.
  virtual void adapt_to_layouts(const NodeView&) {}
  // What makes kernels as this one, which is laid out and finished, for other sizes. `line`: its own, whose sizes are
  // formulas that have its own as their values at hand. Null: each is prepared.
  virtual std::unique_ptr<const KernelOfClass> of_class(const LineView& /*line*/) const { return nullptr; }
  // Bytes of Launch::scratch. What a library runs on a device may say so once it is finished; all others once laid out.
  virtual size_t scratch() const { return 0; }
  // Whether it was laid out as the epilogue that the program asked for.
  virtual bool runs_tiles() const { return false; }
  // Runs one tile. Any thread; does not throw. Requires: runs_tiles().
  virtual void run_tile(const Launch*, const Tile&) const {}
  // The kernels with which it may be joined, before they are finished.
  virtual Joinable joinable() const { return {}; }
  // A kernel that computes in one launch what all of these do, which are of one kind, and of which none needs a result
  // of another. Its call gets the first of their launches, which lie in a row. These are then neither finished nor run.
  virtual std::unique_ptr<Kernel> join(std::span<const Kernel* const> /*all*/) const { return nullptr; }
  // Called after all kernels are laid out: waits for work in other threads, such as compiling.
  virtual void finish_compiling() {}
  // The time in which a library made plans in another thread, concurrently with the rest of the compile.
  virtual double plan_ms() const { return 0; }
  // With kPacks. Packs frozen inputs, which alone have data in the launch: called when the program is made, and again
  // whenever they were written. The result is how many bytes it keeps of them, which count as the program's memory.
  virtual size_t prepack(const Launch*) { return 0; }
  // Why no CUDA graph can hold it, if it may fail when it runs.
  virtual const char* unrecordable() const { return "is run by a function of the caller's"; }
  // A text for users that describes the kernel, or "".
  virtual std::string explain() const { return ""; }
  // The kernel compiled from a loop nest that it runs; null: something else does.
  virtual const Kernel* launcher() const { return nullptr; }

 protected:
  // For a class with a member `Status* run(const Launch*) const`: Kernel(this).
  template <class K>
  explicit Kernel(const K* self) : call_{call_run<K>, const_cast<K*>(self)} {}
  explicit Kernel(KernelCall call) : call_(call) {}
  void set_call(const KernelCall& call) { call_ = call; }

 private:
  template <class K>
  static Status* call_run(const Launch* launch, void* self) {
    return static_cast<const K*>(self)->run(launch);
  }
  KernelCall call_;
  uint32_t flags_ = 0;
};

using KernelPtr = std::unique_ptr<Kernel>;

// The sizes for which a line of a class needs a kernel.
struct SizedLine {
  std::span<const int64_t> symbols;
  std::span<const Buffer> inputs, outputs;  // without memory, in the order of Launch
};

// Makes kernels of one line for the sizes of a class, without the line. One thread at a time.
class KernelOfClass {
 public:
  virtual ~KernelOfClass() = default;
  // A kernel that is laid out; on a device it is still to be finished. Null: the sizes lead to other decisions.
  virtual KernelPtr kernel_for(const SizedLine& line) const = 0;
};

// A kernel that runs on each tile of a step's first result as soon as that is computed, while it is in the caches.
struct Epilogue {
  const Kernel* kernel = nullptr;
  const Launch* launch = nullptr;
  void run(const Tile& tile) const { kernel->run_tile(launch, tile); }  // any thread
};

}  // namespace thunder
