#include "tracer/needed.h"

#include <algorithm>

#include "ops/op.h"
#include "tracer/eager.h"
#include "tracer/tracing.h"

namespace thunder {

void add_needed(std::span<const Node* const> lines, ValueId value, ValueSet& into) {
  into.add(value);
  for (size_t i = lines.size(); i-- > 0;) {
    const Node& line = *lines[i];
    const bool wanted = std::any_of(line.results.begin(), line.results.end(), [&](ValueId r) { return into.has(r); });
    if (wanted && def(line).nondiff.empty()) for_each_value(line.args, [&](ValueId v) { into.add(v); });
  }
}

std::vector<bool> reached(Scope& scope, Tensor* loss, std::span<Tensor* const> tensors) {
  if (auto* eager = dynamic_cast<EagerScope*>(&scope)) return eager->reached(loss, tensors);
  if (auto* tracing = dynamic_cast<TracingScope*>(&scope)) return tracing->reached(loss, tensors);
  return std::vector<bool>(tensors.size());
}

}  // namespace thunder
