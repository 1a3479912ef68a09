#include "cache/entry.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace thunder {

bool guards_hold(const Entry& entry, std::string* why) {
  for (GenerationGuard& g : entry.guards) {
    const uint64_t now = g.counter->load(std::memory_order_acquire);
    std::atomic_ref<uint64_t> seen(g.seen);
    if (now == seen.load(std::memory_order_relaxed)) continue;
    for (auto& fact : g.facts) {
      if (fact->holds()) continue;
      if (why) *why = fact->describe();
      return false;
    }
    seen.store(now, std::memory_order_relaxed);
  }
  return true;
}

namespace {

std::vector<int64_t> symbols_of(const Entry& entry, const Inputs& in) {
  std::vector<int64_t> symbols = entry.symbols;
  for (const IntegerSymbol& s : entry.of->integers) symbols[static_cast<size_t>(s.symbol)] = (*in.values)[s.leaf].i;
  return symbols;
}

}  // namespace

int64_t integer_value(const Entry& entry, const DimExpr& formula, const Inputs& in) {
  for (const IntegerSymbol& s : entry.of->integers)
    if (formula.op == DimOp::symbol && formula.a == Dim(s.symbol)) return (*in.values)[s.leaf].i;
  return Dims::evaluate(Dim(&formula), symbols_of(entry, in));
}

bool integer_conditions_hold(const Entry& entry, const Inputs& in) {
  if (entry.conditions.empty()) return true;
  const std::vector<int64_t> symbols = symbols_of(entry, in);
  return std::all_of(entry.conditions.begin(), entry.conditions.end(),
                     [&](const DimCondition& c) { return c.holds_for(symbols); });
}

bool floats_are_same(const Entry& entry, const Inputs& in) {
  for (auto& [leaf, value] : entry.float_guards)
    if (!in.values || std::bit_cast<uint64_t>((*in.values)[leaf].f) != std::bit_cast<uint64_t>(value)) return false;
  return true;
}

std::string explain_misfit(const Entry& e, const Inputs& in, std::span<const std::string> names) {
  if (!e.key.matches(in)) return Key(in).difference(e.key, names);
  for (auto& [leaf, value] : e.float_guards) {
    if (!in.values || (*in.values)[leaf].f == value) continue;
    return cat("input ", leaf < names.size() ? names[leaf] : cat(leaf), ": value is ", (*in.values)[leaf].f, ", was ",
               value, " (the function read it as a number)");
  }
  if (!e.integers.empty() && !integer_conditions_hold(e, in))
    return "an integer that stands for any is another than what was compared allows";
  std::string why;
  return guards_hold(e, &why) ? "another thread compiled it meanwhile" : why;
}

}  // namespace thunder
