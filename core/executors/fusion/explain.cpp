#include "executors/fusion/explain.h"

#include <unordered_map>

#include "base/text.h"
#include "executors/fusion/group.h"
#include "ops/registry.h"

namespace thunder::fusion {
namespace {

bool is_kernel(const Node& n) { return n.executor && std::string_view(n.executor) == "fusion" && !def(n).view; }
bool is_region(const Node& n) { return n.op->name() == "region"; }

struct Rejection {
  const Node* node;  // the first node that does not fit
  std::string_view why;
};
Rejection find_rejection(const Node& first, const Node& second, const Store& store, const Targets& targets) {
  const Target* target = targets.find(store.type(first.results[0]).device);
  if (!target) return {nodes_of(second)[0], "nothing runs kernels on its device"};
  Group group(store, target->capabilities());
  const std::vector<const Node*> nodes = nodes_of(second);
  if (!group.add_all(nodes_of(first))) return {nodes[0], group.rejection_reason()};
  for (const Node* node : nodes)
    if (!group.extend(*node)) return {node, group.rejection_reason()};
  if (!group.check_consistency()) return {nodes.back(), group.rejection_reason()};
  return {nodes.back(), "they fit, but for what stands between them or for the size of a kernel"};
}

// Numbers of values as a trace prints them, including the nodes in regions.
std::unordered_map<ValueId, size_t> number_values(const Trace& trace) {
  std::unordered_map<ValueId, size_t> numbers;
  const auto add = [&](const Node& n) {
    for (ValueId r : n.results) numbers.try_emplace(r, numbers.size() + 1);
  };
  for (const Node* n : trace.nodes) {
    if (is_region(*n))
      for (const Node* node : n->body) add(*node);
    else add(*n);
  }
  return numbers;
}

}  // namespace

std::string explain(const Trace& claimed, const Targets& targets) {
  std::string out;
  const auto numbers = number_values(claimed);
  struct Producer {
    const Node* by;  // the node that computes it, seen through views
    ValueId value;  // the result of that node
  };
  std::unordered_map<ValueId, Producer> producers;
  for (const Node* node : claimed.nodes) {
    for (ValueId r : node->results) producers[r] = {node, r};
    std::vector<const Node*> reported;
    for_each_value(node->args, [&](ValueId v) {
      const auto it = producers.find(v);
      if (it == producers.end()) return;
      const Producer from = it->second;
      if (def(*node).view) producers[node->results[0]] = from;
      if (!is_kernel(*node) || !is_kernel(*from.by) ||
          std::find(reported.begin(), reported.end(), from.by) != reported.end())
        return;
      reported.push_back(from.by);
      const Rejection rejection = find_rejection(*from.by, *node, *claimed.store, targets);
      out += cat("t[", numbers.at(from.value), "] is not fused with t[", numbers.at(rejection.node->results[0]), "] (",
                 rejection.node->op->name(), "): ", rejection.why, "\n");
    });
  }
  return out;
}

}  // namespace thunder::fusion
