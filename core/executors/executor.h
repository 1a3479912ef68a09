// The one descriptor that built-in, plugin and Lua executors fill. It knows nodes and buffers, no tensor handles.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "program/launch.h"
#include "tracer/builder_scope.h"

namespace thunder {

// Asked for in lay_out: to run part by part, each as soon as that part of this input is there.
struct EpilogueRequest {
  size_t input = 0;
  bool accepted = false;  // the executor's answer
};

// A node with the types of its values: what executors decide on.
struct NodeView {
  const Node& node;
  const Store& store;
  // For lay_out: how its tensors will lie in memory, without the memory; in the order of Launch. Else empty.
  std::span<const Buffer> inputs = {};
  std::span<const Buffer> outputs = {};
  EpilogueRequest* epilogue_request = nullptr;  // null: it runs as a whole
};

enum ExecutorFlag : uint32_t {
  kStrided = 1,       // takes strided inputs; others get dense row-major ones
  kCallerThread = 2,  // must run on the thread that called
  kInPlace = 4,       // its regions of elementwise lines read an element of every input before they write that element
  kRunsEpilogue = 1 << 17,   // runs the launch's epilogue on each part of its first result
  kAnyDevice = 1 << 18,  // asked about lines on every device; without it, about those whose tensors are all on the CPU
  kMayFail = 1 << 16, // its lines may fail when they run: all executors of callers
};

struct ExecutorDesc {
  std::string name;
  std::vector<std::string> ops;  // by name; empty: `claim` is asked about every op
  uint32_t flags = 0;
  void* user = nullptr;
  // Pure. False: descend into the decomposition.
  bool (*claim)(const NodeView&, void* user) = nullptr;
  // Fusion executors: of these lines that it claims, in the trace's order, which form one region with the first. There
  // may be other lines between them; what they need of the region leads to none of these. It may get fewer than it
  // took: those that need a line that it left out stay out. Null: it takes line by line.
  bool (*claim_region)(std::span<const Node* const> nodes, const Store& store, uint8_t* taken, void* user) = nullptr;
  // Fusion executors: whether these lines can form one region, though some need nothing of the others. Null: they cannot.
  bool (*fits)(std::span<const Node* const> nodes, const Store& store, void* user) = nullptr;
  // Once a line that needs a step. Owned status; Code::declined: the next executor is asked, for the line or for what
  // is inside it; any other: compiling fails with its message.
  Status* (*prepare)(const NodeView&, void** state, size_t* scratch_bytes, void* user) = nullptr;
  // After memory is planned: what `prepare` made may be fitted to the strides; may change the scratch. May be null.
  Status* (*lay_out)(const NodeView&, void* state, size_t* scratch_bytes, void* user) = nullptr;
  // Once the program is made, and again whenever frozen inputs were written: of the launch's inputs, those that stay the same in
  // between have their data, the others none. What it keeps of them counts as the program's memory. Owned status. May be null.
  Status* (*prepack)(const Launch*, void* state, size_t* kept_bytes) = nullptr;
  // Before gradients are taken: what the executor wants in place of a line that it would claim, recorded in the scope.
  // False: the line stays. Throws. May be null.
  bool (*transform)(const NodeView&, BuilderScope&, Results&, void* user) = nullptr;
  // Hot: no handles, no allocation, no exceptions. Owned status: the call fails with its code and message.
  Status* (*run)(const Launch*, void* state) = nullptr;
  // The same for a part, where lay_out said that it can. May be null.
  void (*run_tile)(const Launch*, const void* state, const Tile&) = nullptr;
  void (*drop)(void* state) = nullptr;
  // What the executor made of a line, as text to read. Throws. May be null.
  std::string (*explain)(const void* state) = nullptr;
  std::shared_ptr<const void> owner;  // of what `user` points to; may be null
};

// Whether all that a line reads and makes is there.
bool is_on_cpu(const NodeView& view);

class Executor : public Counted<Executor> {
 public:
  // Throws when the descriptor is incomplete.
  explicit Executor(ExecutorDesc desc);
  const std::string& name() const { return desc_.name; }
  const ExecutorDesc& desc() const { return desc_; }
  bool claims(const NodeView&) const;

 private:
  friend class Counted<Executor>;
  ~Executor() = default;
  ExecutorDesc desc_;
  std::unordered_set<std::string, TextHash, std::equal_to<>> ops_;
};

}  // namespace thunder
