#include "executors/fusion/choices.h"

#include "executors/fusion/group.h"
#include "ir/dim_reads.h"

namespace thunder::fusion {
namespace {

// An interval that is a whole dim has its loop; one of a single index has none.
void note_intervals(const Node& node, const Store& store) {
  const Shape& result = store.type(node.results[0]).shape;
  for (ValueId v : operands(node)) {
    const Shape& operand = store.type(v).shape;
    for (size_t i = 0; i < operand.size() && operand.size() == result.size(); i++)
      if (!is_equal(operand[i], result[i])) is_equal(operand[i], 1), is_equal(result[i], 1);
  }
}

void note_choices_of(const Node& node, const Store& store, const loops::Targets& targets) {
  const PrimRow* row = find_prim(*node.op);
  const loops::Target* target = row ? targets.find(store.type(node.results[0]).device) : nullptr;
  if (!target) return;
  for_each_value(node.args, [&](ValueId v) { is_large_operand(store.type(v)); });
  if (has_intervals(*row)) note_intervals(node, store);
  if (row->role == Role::reduction) sums_in_row_order(node, store, target->capabilities());
}

}  // namespace

void note_choices(const Trace& claimed, const loops::Targets& targets) {
  for (const Node* line : claimed.nodes)
    for (const Node* node : nodes_of(*line)) note_choices_of(*node, *claimed.store, targets);
}

}  // namespace thunder::fusion
