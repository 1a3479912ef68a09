// The one descriptor that built-in, plugin and Lua executors fill. It knows nodes and buffers, no tensor handles.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "executors/region_states.h"
#include "program/launch.h"
#include "tracer/builder_scope.h"

namespace thunder {

namespace loops {
class Launcher;
}

// In lay_out, the program's request to run a node as the epilogue of the step before it: tile by tile, as soon as a
// tile of this input is computed.
struct EpilogueRequest {
  size_t input = 0;
  bool accepted = false;  // the executor's answer
};

// What executors see of a node.
struct NodeView {
  const Node& node;
  const Store& store;
  // In lay_out: the layouts that its tensors will have, without memory, in the order of Launch. Otherwise empty.
  std::span<const Buffer> inputs = {};
  std::span<const Buffer> outputs = {};
  EpilogueRequest* epilogue_request = nullptr;  // null: it runs as a whole, after the step before it
  // In prepare, of a region: the state that its executor set when it claimed just these nodes. Null: none.
  RegionState state = nullptr;
};

enum ExecutorFlag : uint32_t {
  kStrided = 1,       // takes strided inputs; executors without it get dense row-major copies
  kCallerThread = 2,  // must run on the thread that called
  kInPlace = 4,  // its regions of elementwise nodes read an element of every input before they write that element
  kRunsEpilogue = 1 << 17,  // runs the launch's epilogue on each tile of its first result
  // Is asked about nodes on every device; without it, only about those whose tensors are all on the CPU.
  kAnyDevice = 1 << 18,
  kMayFail = 1 << 16,  // its nodes may fail when they run; set for all executors of callers
};

struct ExecutorDesc {
  std::string name;
  std::vector<std::string> ops;  // names of ops; empty: `claim` is asked about every op
  uint32_t flags = 0;
  // Flags of one node that it claimed, besides those of the executor. Null: none.
  uint32_t (*flags_of)(const NodeView&, void* user) = nullptr;
  void* user = nullptr;
  // Pure. False: the node descends into its decomposition.
  bool (*claim)(const NodeView&, void* user) = nullptr;
  // Fusion executors: which of these nodes, all claimed by it and in the trace's order, form one region with the first
  // one. Other nodes may lie between them. The region may end up smaller than what was taken, since nodes that depend
  // on one that was left out are left out too. `prepare` gets the `state` that it sets, if the region is exactly what
  // it took. Null: it fuses nothing.
  bool (*claim_region)(std::span<const Node* const> nodes, const Store& store, uint8_t* taken, RegionState& state,
                       void* user) = nullptr;
  // Whether a region can begin with a node that it claimed: claim_region is not asked where not. Null: with any.
  bool (*begins_region)(const Node&) = nullptr;
  // Fusion executors: whether these nodes can form one region. They are those of two regions that do not depend on each
  // other, or the rest of one region of which some nodes are recomputed elsewhere. `state` is for `prepare` of these
  // nodes. Null: the former never can, the latter always.
  bool (*fits)(std::span<const Node* const> nodes, const Store& store, RegionState& state, void* user) = nullptr;
  // Fusion executors: how many instructions of an element of a region that begins with this node take less time than
  // to store the element and to read it. Null: as many as loops::Capabilities has by default.
  size_t (*recomputed_instructions)(const Node& first, const Store& store, void* user) = nullptr;
  // Called once for each node that becomes a step. Owned status; Code::declined: the next executor is asked about the
  // node, or about the nodes of its body; any other code: compiling fails with that message.
  Status* (*prepare)(const NodeView&, void** state, size_t* scratch_bytes, void* user) = nullptr;
  // Called once memory is planned: may specialise the state for the tensors' strides, and change the scratch size.
  // Owned status. May be null.
  Status* (*lay_out)(const NodeView&, void* state, size_t* scratch_bytes, void* user) = nullptr;
  // Called once for each prepared node when all are laid out: waits for work that prepare and lay_out left to other
  // threads, such as compiling, and fills in what only that has shown. Owned status. May be null.
  Status* (*finish)(void* state, Finished* finished) = nullptr;
  // Which laid out nodes one launch may compute, if none of them needs a result of another. Null: none.
  Joinable (*joinable)(const void* state) = nullptr;
  // Lets the first of these, which are of one kind, compute all of them: its run() gets the first of their launches,
  // which lie in a row, and run() of the others does nothing. Called before finish(). Owned status.
  Status* (*join)(std::span<void* const> states) = nullptr;
  // Packs frozen weights: called when the program is made, and again whenever frozen inputs were written. Of the
  // launch's inputs only those that stay the same between calls have data. What it keeps of them counts as the
  // program's memory. Owned status. May be null.
  Status* (*prepack)(const Launch*, void* state, size_t* kept_bytes) = nullptr;
  // Before gradients are taken: records in the scope what the executor wants in place of a node that it would claim.
  // False: the node stays. Throws. May be null.
  bool (*execution_transform)(const NodeView&, BuilderScope&, Results&, void* user) = nullptr;
  // The hot path: no handles, no allocation, no exceptions. Owned status: the call fails with its code and message.
  Status* (*run)(const Launch*, void* state) = nullptr;
  // Runs one tile, if lay_out accepted the request to run as an epilogue. May be null.
  void (*run_tile)(const Launch*, const void* state, const Tile&) = nullptr;
  void (*drop)(void* state) = nullptr;
  // How the executor runs a node, as text for a person. Throws. May be null.
  std::string (*explain)(const void* state) = nullptr;
  // The compiled kernel that runs a node; null: there is none. May be null.
  const loops::Launcher* (*launcher)(const void* state) = nullptr;
  std::shared_ptr<const void> owner;  // keeps what `user` points to alive; may be null
};

// Whether all operands and results are on the CPU.
bool is_on_cpu(const NodeView& view);
// Whether it has tensors, all of known sizes and on one device of this kind.
bool is_on_one_device(const NodeView& view, int32_t device_kind);

// A launch on these buffers, without scratch. `threads`: those that run its loops; null: for planning only.
Launch launch_on(std::span<const Buffer> inputs, std::span<const Buffer> outputs, ThreadPool* threads = nullptr);

class Executor : public Counted<Executor> {
 public:
  // Throws when the descriptor is incomplete.
  explicit Executor(ExecutorDesc desc);
  const std::string& name() const { return desc_.name; }
  const ExecutorDesc& desc() const { return desc_; }
  bool claims(const NodeView&) const;
  // The flags of a node that it claimed.
  uint32_t flags(const NodeView& view) const {
    return desc_.flags | (desc_.flags_of ? desc_.flags_of(view, desc_.user) : 0u);
  }
  // Whether it is asked about an op of this name at all.
  bool asks_for(std::string_view op) const { return ops_.empty() || ops_.contains(op); }

 private:
  friend class Counted<Executor>;
  ~Executor() = default;
  ExecutorDesc desc_;
  std::unordered_set<std::string, TextHash, std::equal_to<>> ops_;
};

using Executors = std::vector<Ref<Executor>>;  // highest priority first
// The first executor that claims a node; null: there is none.
const Executor* claimant(const NodeView& view, const Executors& executors);

}  // namespace thunder
