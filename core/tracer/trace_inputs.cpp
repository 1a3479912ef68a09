#include "tracer/trace_inputs.h"

#include <unordered_set>

#include "base/text.h"
#include "ir/draws.h"
#include "ir/prim.h"
#include "ir/symbols.h"

namespace thunder {

std::optional<size_t> random_input(const Trace& trace) {
  for (size_t i = 0; i < trace.inputs.size(); i++) {
    const Input& in = trace.inputs[i];
    if (in.source != Source::constant) continue;
    bool found = false;
    const auto look = [&](const Node& prim) {
      const auto draw = first_draw(prim);
      found |= draw && draw->state == in.value;
      found |= prim.op->id == Prim::advance_random && prim.args[0].v == in.value;
    };
    for (const Node* n : trace.nodes) for_each_prim(*n, look);
    if (found) return i;
  }
  return std::nullopt;
}

std::vector<int64_t> symbol_values(const Trace& trace, std::span<const TensorType* const> types,
                                   std::span<const IntegerValue> integers) {
  std::vector<int64_t> symbols(trace.store->dims().symbols(), 0);
  for (auto [symbol, value] : integers) symbols[static_cast<size_t>(symbol)] = value;
  const auto input_name = [&](size_t i) {
    const Input& in = trace.inputs[i];
    return in.name.empty() ? cat("input ", i) : cat("input '", in.name, "'");
  };
  const auto refuse = [&](size_t i) {
    fail(Code::invalid_argument, trace.function, ": ", input_name(i), " is ", name(*types[i]),
         ", the trace was made for ", name(trace.type(trace.inputs[i].value)));
  };
  for (size_t i = 0; i < types.size(); i++) {
    const TensorType& was = trace.type(trace.inputs[i].value);
    if (!types[i]) continue;
    if (types[i]->dtype != was.dtype || types[i]->rank() != was.rank() || types[i]->device != was.device ||
        types[i]->weak != was.weak)
      refuse(i);
    for (size_t k = 0; k < was.rank(); k++)
      if (!was.shape[k].constant() && was.shape[k].expr()->op == DimOp::symbol)
        symbols[static_cast<size_t>(was.shape[k].expr()->a.value())] = hint(types[i]->shape[k]);
  }
  for (size_t i = 0; i < types.size(); i++) {
    if (!types[i]) continue;
    const TensorType& was = trace.type(trace.inputs[i].value);
    for (size_t k = 0; k < was.rank(); k++)
      if (Dims::evaluate(was.shape[k], symbols) != hint(types[i]->shape[k])) refuse(i);
  }
  return symbols;
}

void require_bound_symbols(const Trace& trace, std::span<const int64_t> integers) {
  std::unordered_set<int64_t> bound(integers.begin(), integers.end());
  for (const Input& in : trace.inputs)
    for (Dim d : trace.type(in.value).shape)
      if (in.source == Source::argument && !d.constant() && d.expr()->op == DimOp::symbol)
        bound.insert(d.expr()->a.value());
  for (const Symbol& s : used_symbols(trace))
    require(bound.count(s.number), trace.function, ": s", s.number,
            " is the size of no argument, so that no call says what it is");
}

}  // namespace thunder
