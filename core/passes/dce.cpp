#include "passes/dce.h"

#include <algorithm>

#include "passes/inside.h"

namespace thunder {

std::optional<Trace> dce(const Trace& trace, PassContext&) {
  std::vector<bool> live(trace.store->size(), false);
  for (ValueId v : trace.outputs) live[v] = true;
  for (const Write& w : trace.writes) live[w.value] = true;
  std::vector<const Node*> kept;
  kept.reserve(trace.nodes.size());
  for (size_t i = trace.nodes.size(); i-- > 0;) {
    const Node* node = trace.nodes[i];
    const bool used = std::any_of(node->results.begin(), node->results.end(), [&](ValueId r) { return live[r]; });
    if (!used && is_pure(*node)) continue;
    // A decomposition may read more than the node's arguments, such as the random state or a captured tensor.
    for_each_inside(*node, [&](const Node& n) { for_each_value(n.args, [&](ValueId v) { live[v] = true; }); });
    kept.push_back(node);
  }
  if (kept.size() == trace.nodes.size()) return std::nullopt;
  Trace out = trace;
  out.nodes.assign(kept.rbegin(), kept.rend());
  return out;
}

}  // namespace thunder
