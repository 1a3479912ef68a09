#include "ir/symbolic/conditions.h"

#include <algorithm>

namespace thunder {

Conditions::Conditions(std::span<const DimCondition> all) {
  for (const DimCondition& c : all) all_.push_back({formulas_.add(c.a), formulas_.add(c.b), c.is, c.holds});
}

bool Conditions::hold_for(std::span<const int64_t> symbols) const {
  const std::vector<int64_t> values = formulas_.evaluate(symbols);
  return std::all_of(all_.begin(), all_.end(), [&](const One& c) {
    return is_so(Formulas::value(c.a, values), c.is, Formulas::value(c.b, values)) == c.holds;
  });
}

}  // namespace thunder
