// An executor: what it claims, and the kernels that it makes of that. Built-in ones and those of callers fill one
// descriptor. It knows nodes and buffers, no tensor handles.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "program/kernel.h"
#include "tracer/builder_scope.h"

namespace thunder {

// States of the regions of one compile, kept by fusion executors until prepared; the store must outlive them.
using RegionStates = std::unordered_map<const Node*, RegionState>;

// The names of prims, for `ops` below.
std::vector<std::string> names(std::initializer_list<Prim> prims);

// All its functions may throw.
struct ExecutorDesc {
  std::string name = {};
  std::vector<std::string> ops = {};  // names of ops; empty: `claim` is asked about every op
  uint32_t flags = 0;            // of all its kernels (KernelFlag)
  // Whether it is asked about nodes on every device; false: only about those whose tensors are all on the CPU.
  bool any_device = false;
  // Whether its claims depend on ops, dtypes and devices alone: who takes a line at one size takes it at all.
  bool claims_any_size = false;
  void* user = nullptr;
  // Pure. False: the node descends into its decomposition. Null: it claims all of `ops`.
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
  // The kernel of a node that becomes a step. It throws Code::declined where the next executor is to be asked about the
  // node, or about the nodes of its body; any other code: compiling fails with that message.
  KernelPtr (*prepare)(const NodeView&, void* user) = nullptr;
  // Called before gradients are taken: records in the scope what the executor wants in place of a node that it would
  // claim. False: the node stays. May be null.
  bool (*execution_transform)(const NodeView&, BuilderScope&, Results&, void* user) = nullptr;
  std::shared_ptr<const void> owner = {};  // keeps what `user` points to alive; may be null
};

// Whether all operands and results are on the CPU.
bool is_on_cpu(const NodeView& view);
// Whether it has tensors, all on one device of this kind.
bool is_on_one_device(const NodeView& view, int32_t device_kind);

// A launch on these buffers, without scratch. `threads` run its loops; null: for planning only.
Launch launch_on(std::span<const Buffer> inputs, std::span<const Buffer> outputs, ThreadPool* threads = nullptr);

class Executor : public Counted<Executor> {
 public:
  // Throws when the descriptor is incomplete.
  explicit Executor(ExecutorDesc desc);
  const std::string& name() const { return desc_.name; }
  const ExecutorDesc& desc() const { return desc_; }
  bool claims(const NodeView&) const;
  // The kernel of a node or region that it claimed; the executor must live as long. Throws, Code::declined too.
  KernelPtr prepare(const NodeView&) const;
  // Whether the executor may claim ops of this name.
  bool may_claim(std::string_view op) const { return ops_.empty() || ops_.contains(op); }

 private:
  friend class Counted<Executor>;
  ~Executor() = default;
  ExecutorDesc desc_;
  std::unordered_set<std::string, TextHash, std::equal_to<>> ops_;
};

using Executors = std::vector<Ref<Executor>>;  // highest priority first
// The first executor that claims a node, or null.
const Executor* claimant(const NodeView& view, const Executors& executors);

}  // namespace thunder
