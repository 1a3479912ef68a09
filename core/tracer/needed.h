// The values that a value depends on, as far as gradients are concerned.
#pragma once

#include <algorithm>
#include <span>

#include "ir/value_set.h"
#include "ops/op.h"

namespace thunder {

// An op whose results do not each depend on all that its line reads.
class Dependencies {
 public:
  virtual ~Dependencies() = default;
  // Whether a gradient flows from this result to this one of the values that the line reads, in order.
  virtual bool depends(size_t result, size_t value) const = 0;
};

// Calls f(value) for the values of a line's arguments that a result is computed from for which is_used(result).
template <class Used, class F>
void for_each_source(const Node& line, Used&& is_used, F&& f) {
  const auto* own = def(line).has(kOwnRules) ? dynamic_cast<const Dependencies*>(&def(line)) : nullptr;
  size_t value = 0;
  const bool any = std::any_of(line.results.begin(), line.results.end(), is_used);
  if (!any) return;
  for_each_value(line.args, [&](ValueId v) {
    bool on = own == nullptr;
    for (size_t r = 0; own && r < line.results.size(); r++) on |= is_used(line.results[r]) && own->depends(r, value);
    value++;
    if (on) f(v);
  });
}

// Includes the values inside a line, which the gradients recorded after it read.
inline void add_sources(const Node& line, ValueSet& into) {
  if (!def(line).nondiff.empty()) return;
  for_each_source(line, [&](ValueId r) { return into.has(r); }, [&](ValueId v) { into.add(v); });
  for (size_t i = line.body.size(); i-- > 0;) add_sources(*line.body[i], into);
}

// Adds the value, and all that these lines compute it from: what stops gradients is the end of a way.
inline void add_needed(std::span<const Node* const> lines, ValueId value, ValueSet& into) {
  into.add(value);
  for (size_t i = lines.size(); i-- > 0;) add_sources(*lines[i], into);
}

}  // namespace thunder
