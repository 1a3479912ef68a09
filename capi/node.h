// The handle of a line that a callback looks at: metadata alone, made when it is asked for.
#pragma once

#include <deque>

#include "capi/context.h"
#include "ops/builder.h"

namespace thunder::capi {

// A node as a callback sees it. Objects that the callback gets from it live as long as it.
struct NodeHandle : ProxyOwner, Handled {
  NodeHandle(const Node& n, const Store& s)
      : op(*n.op), args(n.args), results(n.results), body(n.body), where(n.where), executor(n.executor), store(&s) {}
  // An op while its meta function is asked: it has no results yet.
  explicit NodeHandle(const Call& call) : op(call.op), args(call.args), builder(&call.builder) {}
  NodeHandle(const NodeHandle&) = delete;
  // Retained tensors become invalid: an object placed at this address later must not be taken for their owner.
  ~NodeHandle() {
    for (auto& t : tensors) t->expire();
  }

  const Op& op;
  std::span<const Arg> args;
  std::span<const ValueId> results;
  std::span<const Node* const> body;
  const char *where = nullptr, *executor = nullptr;
  const Store* store = nullptr;  // one of the two knows the types
  const Builder* builder = nullptr;

  mutable std::deque<Ref<Tensor>> tensors;
  mutable std::deque<std::vector<int64_t>> lists;
  mutable std::vector<std::unique_ptr<NodeHandle>> lines;  // of the body, made when the first one is asked for
  mutable bool without_memory = false;                     // something that was asked for could not be made

  // Called after a callback that cannot return a status.
  void require_memory() const {
    if (without_memory) throw std::bad_alloc();
    for (auto& l : lines)
      if (l) l->require_memory();
  }

  Tensor* keep(Ref<Tensor> t) const { return tensors.emplace_back(std::move(t)).get(); }
  Tensor* metadata(ValueId v) const {
    return keep(Tensor::proxy(store ? store->type(v) : builder->type(v), const_cast<NodeHandle*>(this), v));
  }
};
THUNDER_HANDLE(node, NodeHandle)

}  // namespace thunder::capi
