// Collectives: ops whose results depend on the operands of several ranks. What their kernels ask of the world of ranks
// that the context is in.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ops/op.h"
#include "ops/registry.h"

namespace thunder::scale {
class Engine;  // scale/engine.h
}

namespace thunder {

class Accelerator;  // device/accelerator.h

enum class Collective : uint8_t { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, ppermute, barrier };
enum class RankReduction : uint8_t { sum, max, min };

// How a prim that knows of ranks is declared (OpRow::ranks). Numbers are those of arguments; 0: it has none.
struct RankRule {
  enum class Kind : uint8_t { collective, wait, axis_index, shard, pvary } kind;
  // What its result is along the axis: of each rank's own, the same on all ranks, or as its operand is.
  enum class Result : uint8_t { varies, replicated, as_operand } result;
  Collective what = {};  // of a collective
  uint8_t axis = 1;      // its name
  uint8_t reduction = 0, root = 0, sources = 0, targets = 0;
  uint8_t unit = 0, more = 0;  // of fully_shard: the number of the unit; whether the next one begins with it
  // Ranks may call it in programs of their own: it is never dropped or merged, and those of its axis keep their order.
  bool ordered = false;
};

// One collective of this rank. Buffers are dense, in one memory, and do not overlap.
struct CollectiveCall {
  Collective what;
  std::string_view axis;
  int64_t ranks;  // of the axis, when the call was recorded
  RankReduction reduction = RankReduction::sum;
  int64_t root = 0;  // of broadcast
  Buffer in = {}, out = {};
  Accelerator* device = nullptr;  // of both buffers; null: the CPU
  std::shared_ptr<const void> keeps = {};  // memory of the operand, as long as it may be read
  const char* where = nullptr;  // the user's "file:line", if it is known
  // The next one of this axis begins together with it: ranks agree once, and the engine is asked once.
  bool more = false;
  std::span<const Dim> sources = {}, targets = {};  // of ppermute: ranks
};

// To whom a rank sends by a ppermute, and from whom it gets something; -1: nobody.
struct Passing {
  int64_t to = -1, from = -1;
};
Passing passing_of(const CollectiveCall& call, int64_t index);

// The named axes of a context's world, along which its ranks are numbered from 0. Any thread.
class RankAxes {
 public:
  virtual ~RankAxes() = default;
  // Both throw not_found where there is no such axis.
  virtual int64_t size(std::string_view axis) = 0;
  virtual int64_t index(std::string_view axis) = 0;
  // In whose memory collectives take buffers, beside that of the CPU.
  virtual Device device() const = 0;
  // Starts one; its buffers stay until wait() was called with the data of `out`. Then the result is there for what the
  // device does from then on, and with `done` for the host, with all that was waited for before: only then may anything
  // be stored. One that has `more` begins with what comes next, whatever that is. Null or an owned status.
  virtual Status* start(const CollectiveCall& call) = 0;
  virtual Status* wait(const void* out, bool done) = 0;
  Status* run(const CollectiveCall& call) {
    if (Status* failed = start(call)) return failed;
    return wait(call.out.data, true);
  }
  // This rank begins, or ends, to compile: it is not late meanwhile.
  virtual void compiles(bool /*begins*/) {}
  // The ranks cannot communicate any more.
  virtual bool broken() const { return false; }
  // Some collectives that the other ranks wait for will not be run here, and why.
  virtual void give_up_after(const Status& /*failed*/) {}
};

// The axes of the context that a registry belongs to. Until they are set there is one axis, "world", of one rank.
class RankAxesSlot {
 public:
  // An engine of the caller's, by name; null: there is none. Throws where the name is taken.
  void add_engine(std::string name, std::shared_ptr<scale::Engine> engine);
  std::shared_ptr<scale::Engine> find_engine(std::string_view name) const;

  // A module's parameters were made shards: what a program has of them is no whole tensor.
  void note_shards() { has_shards_ = true; }
  bool has_shards() const { return has_shards_; }
  // The number of a new unit of parameters, from 1; ranks count alike.
  int64_t add_unit() { return ++units_; }

  // Null: they are not set.
  std::shared_ptr<RankAxes> get() const {
    const std::lock_guard lock(mutex_);
    return axes_;
  }
  // Sets them, unless they are set and not broken. The result is what is set then.
  std::shared_ptr<RankAxes> set(std::shared_ptr<RankAxes> axes) {
    const std::lock_guard lock(mutex_);
    if (!axes_ || axes_->broken()) axes_ = std::move(axes);
    return axes_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<RankAxes> axes_;
  std::atomic<bool> has_shards_{false};
  std::atomic<int64_t> units_{0};
  std::map<std::string, std::shared_ptr<scale::Engine>, std::less<>> engines_;
};

// A prim with a RankRule, whose kernel finds the axes of its context.
struct CollectiveOp : OpDef {
  CollectiveOp(const OpRow& row, std::shared_ptr<RankAxesSlot> of) : OpDef(row), slot(std::move(of)) {
    pure = !row.ranks->ordered;
  }
  const std::shared_ptr<RankAxesSlot> slot;
};

// The kernel of all collectives.
Status* run_collective(const KernelArgs& k);
Status* run_axis_index(const KernelArgs& k);
Status* run_wait(const KernelArgs& k);
// For the executor that starts collectives and waits for them: its name, and what it runs.
inline constexpr std::string_view kCollectivesExecutor = "collectives";
inline bool is_of_ranks(const OpDef& op, RankRule::Kind kind) {
  return op.ranks && op.ranks->kind == kind;
}
inline bool runs_collective(const OpDef& op) {
  return is_of_ranks(op, RankRule::Kind::collective);
}
inline bool runs_collective(const OpDef& op, Collective what) {
  return runs_collective(op) && op.ranks->what == what;
}
inline bool waits_for_collective(const OpDef& op) {
  return is_of_ranks(op, RankRule::Kind::wait);
}
// The axis of a line that knows of ranks.
inline std::string_view axis_of(const Node& n) {
  return n.args[def(n).ranks->axis].text();
}
// Of the lines of a collective: the number of the unit of parameters (fully_shard) that it gathers, or whose gradients
// it adds; 0: it is of none.
inline int64_t unit_of(const Node& n) {
  const RankRule* const rule = def(n).ranks;
  return rule && rule->unit ? n.args[rule->unit].i : 0;
}
// Starts it. `where`: the user's line, or null; `device`: of the buffers, which are dense there; null: the CPU. The
// result is dense.
Status* start_collective(const KernelArgs& k, Accelerator* device, const char* where);

// Of the registry of a context.
RankAxesSlot& rank_axes(const Registry& registry);
// In whose memory collectives of this op's context take buffers, beside that of the CPU.
Device device_of_ranks(const OpDef& op);
// While it lives, this rank of the registry's context compiles.
class CompilingRank {
 public:
  explicit CompilingRank(const Registry& registry) : axes_(rank_axes(registry).get()) {
    if (axes_) axes_->compiles(true);
  }
  ~CompilingRank() {
    if (axes_) axes_->compiles(false);
  }
  CompilingRank(const CompilingRank&) = delete;

 private:
  const std::shared_ptr<RankAxes> axes_;
};
// How many ranks the axis has. Throws not_found where there is no such axis.
int64_t ranks_along(const Registry& registry, std::string_view axis);

constexpr std::string_view kWorldAxis = "world";

}  // namespace thunder
