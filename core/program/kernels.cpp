#include "program/kernels.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {

KernelPtr Kernels::take_kernel(const Node& node, const Store& store) {
  const auto it = of_.find(&node);
  if (it == of_.end()) return views_->prepare(node, store);
  KernelPtr kernel = std::move(it->second);
  of_.erase(it);
  return kernel;
}

const Kernel* Kernels::find(const Node& node) const {
  const auto line = nodes_.find(&node);
  const auto it = of_.find(line == nodes_.end() ? &node : line->second);
  return it == of_.end() ? nullptr : it->second.get();
}

bool Kernels::has(const Node& node, KernelFlag flag) const {
  const Kernel* kernel = find(node);
  return kernel && kernel->has(flag);
}

uint64_t Kernels::answers(const Node& node) const {
  const Kernel* kernel = find(node);
  if (!kernel) return takes_strided(node);
  uint64_t orders = 0;
  for (size_t i = 0; i < node.results.size(); i++) orders = orders << 1 | kernel->orders_result(i);
  return static_cast<uint64_t>(kernel->flags()) << 32 | orders << 2 | static_cast<uint64_t>(kernel->memory_format());
}

bool Kernels::takes_strided(const Node& node) const {
  return def(node).view ? views_->takes_strided(node) : has(node, kStrided);
}

bool Kernels::orders_result(const Node& node, size_t number) const {
  const Kernel* kernel = find(node);
  return kernel && kernel->orders_result(number);
}

MemoryFormat Kernels::memory_format(const Node& node) const {
  const Kernel* kernel = find(node);
  return kernel ? kernel->memory_format() : MemoryFormat::contiguous;
}

bool Kernels::can_run_in_place(const Node& node) const {
  if (node.body.empty()) return def(node).has(kElementwise);
  std::vector<ValueId> own;  // of no input of the region, such as the numbers of a dim: they lie nowhere
  const auto is_own = [&](ValueId v) { return std::find(own.begin(), own.end(), v) != own.end(); };
  const auto is_pointwise = [&](const Node* n) {
    bool of_none = true;
    for_each_value(n->args, [&](ValueId v) { of_none = of_none && is_own(v); });
    if (of_none) own.insert(own.end(), n->results.begin(), n->results.end());
    return of_none || def(*n).has(kElementwise);
  };
  return has(node, kInPlace) && std::all_of(node.body.begin(), node.body.end(), is_pointwise);
}

void fail_to_prepare(std::string_view executor, const Node& node, const Error& why) {
  const Ref<Status> status = why.status();
  if (status->has_foreign() || why.code() == Code::out_of_memory || why.code() == Code::declined) throw Error(status);
  fail(Code::backend, "executor '", executor, "' could not prepare ", node.op->name(), ": ", status->message(),
       node.where ? cat(" [at ", node.where, "]") : "");
}

}  // namespace thunder
