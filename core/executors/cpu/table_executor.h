// Executors for CPUs that have a table with a row for each op that they run.
#pragma once

#include <algorithm>

#include "base/text.h"
#include "executors/executor.h"

namespace thunder {

inline bool is_cpu_tensor_of(const TensorType& t, DType dtype) { return t.dtype == dtype && t.device == Device::cpu; }

// Calls f(type) for all operands and results.
template <class F>
void for_each_type(const NodeView& view, const F& f) {
  for_each_value(view.node.args, [&](ValueId v) { f(view.store.type(v)); });
  for (ValueId r : view.node.results) f(view.store.type(r));
}

// A claim: whether all operands and results are of this dtype and on the CPU.
template <DType kDType>
bool all_tensors_are(const NodeView& view, void*) {
  bool all = true;
  for_each_type(view, [&](const TensorType& t) { all = all && is_cpu_tensor_of(t, kDType); });
  return all;
}

// The row whose member `op` is the name of the node's op. Requires: it exists.
template <class Rows>
const auto& find_row(const Rows& rows, const NodeView& view) {
  return *std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.op == view.node.op->name(); });
}

// The descriptor. `user` is for `claim` and `prepare`, and not owned.
template <class Rows>
ExecutorDesc table_executor(const char* name, const Rows& rows, decltype(ExecutorDesc::claim) claim,
                            decltype(ExecutorDesc::prepare) prepare, const void* user = nullptr) {
  ExecutorDesc d;
  d.name = name;
  for (const auto& row : rows) d.ops.emplace_back(row.op);
  d.flags = kStrided;
  d.user = const_cast<void*>(user);
  d.claim = claim;
  d.prepare = prepare;
  return d;
}

}  // namespace thunder
