#include "ir/symbols.h"

#include <algorithm>
#include <unordered_set>

namespace thunder {
namespace {

class Collector {
 public:
  void add(Dim d) {
    if (d.constant()) return;
    todo_.push_back(d.expr());
    while (!todo_.empty()) {
      const DimExpr& e = *todo_.back();
      todo_.pop_back();
      if (!seen_.insert(&e).second) continue;
      if (e.op == DimOp::symbol) {
        found.push_back({e.a.value(), e.hint});
        continue;
      }
      for (Dim operand : {e.a, e.b})
        if (!operand.constant()) todo_.push_back(operand.expr());
    }
  }
  void add(std::span<const Dim> dims) {
    for (Dim d : dims) add(d);
  }
  std::vector<Symbol> found;

 private:
  std::unordered_set<const DimExpr*> seen_;
  std::vector<const DimExpr*> todo_;
};

}  // namespace

std::vector<Symbol> used_symbols(const Trace& trace) {
  if (trace.store->dims().symbols() == 0) return {};
  Collector all;
  for (const Input& in : trace.inputs) all.add(trace.type(in.value).shape);
  for (const Node* n : trace.nodes) {
    for (const Arg& a : n->args)
      if (a.kind == ArgKind::dims) all.add(a.dim_list());
      else if (a.kind == ArgKind::symbolic) all.add(a.dim());
    for (ValueId r : n->results) all.add(trace.type(r).shape);
  }
  std::sort(all.found.begin(), all.found.end(), [](auto& a, auto& b) { return a.number < b.number; });
  return std::move(all.found);
}

std::vector<Symbol> used_symbols(Dim d) {
  Collector one;
  one.add(d);
  return std::move(one.found);
}

}  // namespace thunder
