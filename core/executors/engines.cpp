#include "executors/engines.h"

#include <algorithm>

namespace thunder {
namespace {

bool may_reject_data(const Node& n, const Store& store) {
  const OpDef& op = def(n);
  if (op.has(kChecksData)) return true;
  if (op.has(kChecksIntegers)) {
    bool of_integers = false;
    for_each_value(n.args, [&](ValueId v) { of_integers |= is_integer(store.type(v).dtype); });
    if (of_integers) return true;
  }
  return std::any_of(n.body.begin(), n.body.end(), [&](const Node* inner) { return may_reject_data(*inner, store); });
}

}  // namespace

std::span<const EngineRow> engines() {
  static const EngineRow rows[] = {onnxrt_engine(), openxla_engine(), tvm_engine()};
  return rows;
}

bool suits_engine(const NodeView& view) {
  const auto fine = [&](ValueId v) {
    const TensorType& type = view.store.type(v);
    return type.device == Device::cpu &&
           std::all_of(type.shape.begin(), type.shape.end(), [](Dim d) { return d.value() > 0; });
  };
  bool all = true;
  for_each_value(view.node.args, [&](ValueId v) { all = all && fine(v); });
  for (const ValueId v : view.node.results) all = all && fine(v);
  return all && !may_reject_data(view.node, view.store);
}

bool claim_all(std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState&, void*) {
  std::fill_n(taken, nodes.size(), uint8_t{1});
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return !def(*n).view; });
}

SmallVector<Buffer, 8> present_inputs(const Launch& launch) {
  SmallVector<Buffer, 8> out;
  for (size_t i = 0; i < launch.n_inputs; i++)
    if (launch.inputs[i].rank >= 0) out.push_back(launch.inputs[i]);
  return out;
}

const EngineRow* find_engine(std::string_view executor) {
  const std::span<const EngineRow> rows = engines();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](auto& r) { return r.executor == executor; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace thunder
