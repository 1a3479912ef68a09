// What executors for CPUs share that know ops by name and keep a state for each node.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "executors/executor.h"

namespace thunder {

// The state of a node between calls. Any number of threads run it at a time.
struct Site {
  virtual ~Site() = default;
  virtual Status* run(const Launch* launch) const = 0;
};

inline bool on_cpu(const TensorType& t, DType dtype) { return t.dtype == dtype && t.device == Device::cpu; }

// A claim: whether all operands and results are of this dtype and on the CPU.
template <DType kDType>
bool all_tensors_are(const NodeView& view, void*) {
  bool all = true;
  const auto look = [&](ValueId v) { all = all && on_cpu(view.store.type(v), kDType); };
  for_each_value(view.node.args, look);
  for (ValueId r : view.node.results) look(r);
  return all;
}

// The row for a node's op in a table with a row (`op`, and what it is made with) for each op of an executor. Requires:
// there is one.
template <class Rows>
const auto& row_of(const Rows& rows, const NodeView& view) {
  return *std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.op == view.node.op->name(); });
}

// An executor of such a table. `prepare` returns a Site as the state, which the executor then owns; it gets `user`,
// which is not owned, as the claim does.
template <class Rows>
ExecutorDesc site_executor(const char* name, const Rows& rows, decltype(ExecutorDesc::claim) claim,
                           decltype(ExecutorDesc::prepare) prepare, const void* user = nullptr) {
  ExecutorDesc d;
  d.name = name;
  for (const auto& row : rows) d.ops.emplace_back(row.op);
  d.flags = kStrided;
  d.user = const_cast<void*>(user);
  d.claim = claim;
  d.prepare = prepare;
  d.run = [](const Launch* launch, void* state) { return static_cast<const Site*>(state)->run(launch); };
  d.drop = [](void* state) { delete static_cast<Site*>(state); };
  return d;
}

}  // namespace thunder
