#include "tracer/needed.h"

#include "tracer/eager.h"
#include "tracer/tracing.h"

namespace thunder {

namespace {

// Includes the values inside a line, which the gradients recorded after it read.
void add_needed(const Node& line, ValueSet& into) {
  if (!def(line).nondiff.empty()) return;
  for_each_source(line, [&](ValueId r) { return into.has(r); }, [&](ValueId v) { into.add(v); });
  for (size_t i = line.body.size(); i-- > 0;) add_needed(*line.body[i], into);
}

}  // namespace

void add_needed(std::span<const Node* const> lines, ValueId value, ValueSet& into) {
  into.add(value);
  for (size_t i = lines.size(); i-- > 0;) add_needed(*lines[i], into);
}

std::vector<bool> reached(Scope& scope, Tensor* loss, std::span<Tensor* const> tensors) {
  if (auto* eager = dynamic_cast<EagerScope*>(&scope)) return eager->reached(loss, tensors);
  if (auto* tracing = dynamic_cast<TracingScope*>(&scope)) return tracing->reached(loss, tensors);
  return std::vector<bool>(tensors.size());
}

}  // namespace thunder
