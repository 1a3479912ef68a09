#include "passes/accumulate.h"

#include "passes/pattern.h"

namespace thunder {
namespace {

constexpr std::string_view kAccumulateRules[] = {
    "add(x, take_add(0, dim, index, y)) -> take_add(x, dim, index, y)",
    "add(take_add(0, dim, index, y), x) -> take_add(x, dim, index, y)",
    "add(x, scatter_add(0, dim, index, y)) -> scatter_add(x, dim, index, y)",
    "add(scatter_add(0, dim, index, y), x) -> scatter_add(x, dim, index, y)",
};

std::vector<Rule> parse_rules_of_updates(const Registry& registry) {
  std::vector<Rule> rules;
  rules.reserve(std::size(kAccumulateRules));
  for (std::string_view rule : kAccumulateRules) rules.emplace_back(rule, registry, "prims.");
  return rules;
}

}  // namespace

std::optional<Trace> accumulate(const Trace& trace, PassContext& context) {
  return apply_rules(trace, context.registry, context.registry.once(parse_rules_of_updates));
}

}  // namespace thunder
