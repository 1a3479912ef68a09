#include "jit/reports/phases.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/node_values.h"

namespace thunder {
namespace {

using ValueIds = std::unordered_set<ValueId>;

// The values that a line makes, inside of a region, too.
void add_made(const Node& n, std::vector<ValueId>& out) {
  out.insert(out.end(), n.results.begin(), n.results.end());
  for (const Node* inner : n.body) add_made(*inner, out);
}

// Adds all that a trace computes for the values in `wanted`.
void add_sources(const Trace& trace, ValueIds& wanted) {
  for (size_t i = trace.nodes.size(); i-- > 0;) {
    const Node& n = *trace.nodes[i];
    for (ValueId r : n.results)
      if (wanted.contains(r)) {
        for_each_value(n.args, [&](ValueId v) { wanted.insert(v); });
        break;
      }
  }
}

// What the function as it was written says of values, by the numbers that they keep.
struct Written {
  ValueIds roots;            // values whose gradients were asked for
  ValueIds forward, update;  // update: what writes take beside the roots, and what reads gradients
};

Written read(const Trace& written) {
  Written out;
  ValueIds gradients, needed, writes;
  for (const Node* n : written.nodes) {
    if (n->op->name() != "grad") continue;
    for_each_value(n->args.first(1), [&](ValueId v) { out.roots.insert(v); });
    gradients.insert(n->results.begin(), n->results.end());
  }
  needed = out.roots;
  add_sources(written, needed);
  for (const Write& w : written.writes) writes.insert(w.value);
  add_sources(written, writes);
  for (const Node* n : written.nodes) {
    if (n->op->name() == "grad") continue;
    bool update = false;
    for_each_value(n->args, [&](ValueId v) { update = update || gradients.contains(v) || out.update.contains(v); });
    for (ValueId r : n->results) {
      const bool later = update || (writes.contains(r) && !needed.contains(r));
      (later ? out.update : out.forward).insert(r);
    }
  }
  return out;
}

}  // namespace

const char* name(Phase phase) {
  static constexpr const char* kNames[] = {"", "forward", "backward", "update"};
  return kNames[static_cast<size_t>(phase)];
}

std::vector<Phase> phases(const Trace& written, const Trace& last) {
  std::vector<Phase> out(last.nodes.size(), Phase::none);
  const Written of = read(written);
  if (of.roots.empty()) return out;
  ValueIds needed = of.roots;                       // by lines of the forward
  std::unordered_map<ValueId, Phase> first_reader;  // of the readers' phases the one that runs first
  for (size_t i = last.nodes.size(); i-- > 0;) {
    const Node& n = *last.nodes[i];
    std::vector<ValueId> made;
    add_made(n, made);
    const auto makes_of = [&](const ValueIds& some) {
      return std::any_of(made.begin(), made.end(), [&](ValueId v) { return some.contains(v); });
    };
    bool reads = false;
    for_each_value(n.args, [&](ValueId) { reads = true; });
    Phase reader = Phase::none;
    for (ValueId r : n.results)
      if (const auto it = first_reader.find(r); it != first_reader.end())
        reader = reader == Phase::none ? it->second : std::min(reader, it->second);
    const bool root = makes_of(needed), update = makes_of(of.update);
    if (!root && !reads && reader != Phase::none) out[i] = reader;
    else if (root || (!update && makes_of(of.forward))) out[i] = Phase::forward;
    else out[i] = update && (reader == Phase::none || reader == Phase::update) ? Phase::update : Phase::backward;
    for_each_value(n.args, [&](ValueId v) {
      if (root) needed.insert(v);
      const auto [it, fresh] = first_reader.try_emplace(v, out[i]);
      if (!fresh) it->second = std::min(it->second, out[i]);
    });
  }
  return out;
}

}  // namespace thunder
