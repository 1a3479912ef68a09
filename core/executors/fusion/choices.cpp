#include "executors/fusion/choices.h"

#include "executors/fusion/group.h"

namespace thunder::fusion {
namespace {

void note_choices_of(const Node& node, const Store& store, const loops::Targets& targets) {
  const PrimRow* row = find_prim(*node.op);
  const loops::Target* target = row ? targets.find(store.type(node.results[0]).device) : nullptr;
  if (!target) return;
  for_each_value(node.args, [&](ValueId v) { is_large_operand(store.type(v)); });
  if (row->role == Role::reduction) sums_in_row_order(node, store, target->capabilities());
}

}  // namespace

void note_choices(const Trace& claimed, const loops::Targets& targets) {
  for (const Node* line : claimed.nodes)
    for (const Node* node : nodes_of(*line)) note_choices_of(*node, *claimed.store, targets);
}

}  // namespace thunder::fusion
