#include "passes/frozen.h"

#include "ops/world_collectives.h"

namespace thunder {

std::vector<Computed> when_computed(const Trace& trace) {
  std::vector<Computed> out;
  std::vector<uint8_t> known(trace.store->size(), 0), frozen(trace.store->size(), 0);
  for (const Input& input : trace.inputs) known[input.value] = frozen[input.value] = input.frozen;
  for (const Node* n : trace.nodes) {
    bool all = n->op->pure && !runs_collective(def(*n)) && !waits_for_collective(def(*n)), any = false;
    for_each_value(n->args, [&](ValueId v) { all &= known[v] != 0, any |= frozen[v] != 0; });
    for (ValueId r : n->results) known[r] = all, frozen[r] = all && any;
    out.push_back(!all || def(*n).view ? Computed::each_time : any ? Computed::once : Computed::either);
  }
  return out;
}

}  // namespace thunder
