#include "passes/dce.h"

#include <algorithm>

#include "passes/constants.h"
#include "passes/inside.h"

namespace thunder {
namespace {

// Integer divisions are kept: dividing by zero is an error even if unread, as when ops run at once.
class Divisions {
 public:
  explicit Divisions(const Trace& trace) : trace_(trace) {}

  bool may_fail(const Node& node) {
    bool may = false;
    for_each_inside(node, [&](const Node& n) {
      if (n.body.empty() && def(n).has(kChecksIntegers) && !is_real(trace_.type(n.results[0]).dtype))
        may = may || !divides_by_a_number(n);
    });
    return may;
  }

 private:
  bool divides_by_a_number(const Node& n) {
    if (producers_.empty()) {
      producers_.resize(trace_.store->size(), nullptr);
      for (const Node* line : trace_.nodes)
        for_each_inside(*line, [&](const Node& made) {
          // A composite's results are produced in its body.
          if (made.body.empty())
            for (ValueId r : made.results) producers_[r] = &made;
        });
    }
    const auto divisor = constant_value(producers_, n.args[1].v);
    return divisor && number_of(*divisor) != 0;
  }

  const Trace& trace_;
  std::vector<const Node*> producers_;  // by value
};

}  // namespace

std::optional<Trace> dce(const Trace& trace, PassContext&) {
  std::vector<bool> live(trace.store->size(), false);
  for (ValueId v : trace.outputs) live[v] = true;
  for (const Write& w : trace.writes) live[w.value] = true;
  Divisions divisions(trace);
  std::vector<const Node*> kept;
  kept.reserve(trace.nodes.size());
  for (size_t i = trace.nodes.size(); i-- > 0;) {
    const Node* node = trace.nodes[i];
    const bool used = std::any_of(node->results.begin(), node->results.end(), [&](ValueId r) { return live[r]; });
    if (!used && is_pure(*node) && !divisions.may_fail(*node)) continue;
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
