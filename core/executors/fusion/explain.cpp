#include "executors/fusion/explain.h"

#include <unordered_map>

#include "base/text.h"
#include "executors/fusion/group.h"
#include "ops/registry.h"

namespace thunder::fusion {
namespace {

bool is_kernel(const Node& n) { return n.executor && std::string_view(n.executor) == "fusion" && !def(n).view; }
bool is_region(const Node& n) { return n.op->name() == "region"; }

struct Verdict {
  const Node* line;  // the first node that does not fit
  std::string_view why;
};
Verdict judge(const Node& first, const Node& second, const Store& store, const Targets& targets) {
  const Target* target = targets.find(store.type(first.results[0]).device);
  if (!target) return {lines_of(second)[0], "nothing runs kernels on its device"};
  Group group(store, target->capabilities());
  const std::vector<const Node*> lines = lines_of(second);
  if (!group.add_all(lines_of(first))) return {lines[0], group.why()};
  for (const Node* line : lines)
    if (!group.extend(*line)) return {line, group.why()};
  if (!group.consistent()) return {lines.back(), group.why()};
  return {lines.back(), "they fit, but for what stands between them or for the size of a kernel"};
}

// Numbers of values as a trace prints them, including the nodes in regions.
std::unordered_map<ValueId, size_t> numbers_of(const Trace& trace) {
  std::unordered_map<ValueId, size_t> numbers;
  const auto add = [&](const Node& n) {
    for (ValueId r : n.results) numbers.try_emplace(r, numbers.size() + 1);
  };
  for (const Node* n : trace.nodes) {
    if (is_region(*n))
      for (const Node* line : n->body) add(*line);
    else add(*n);
  }
  return numbers;
}

}  // namespace

std::string explain(const Trace& claimed, const Targets& targets) {
  std::string out;
  const auto numbers = numbers_of(claimed);
  struct Made {
    const Node* by;  // the node that computes it, seen through views
    ValueId value;  // the result of that node
  };
  std::unordered_map<ValueId, Made> made;
  for (const Node* line : claimed.nodes) {
    for (ValueId r : line->results) made[r] = {line, r};
    std::vector<const Node*> told;
    for_each_value(line->args, [&](ValueId v) {
      const auto it = made.find(v);
      if (it == made.end()) return;
      const Made from = it->second;
      if (def(*line).view) made[line->results[0]] = from;
      if (!is_kernel(*line) || !is_kernel(*from.by) || std::find(told.begin(), told.end(), from.by) != told.end())
        return;
      told.push_back(from.by);
      const Verdict verdict = judge(*from.by, *line, *claimed.store, targets);
      out += cat("t[", numbers.at(from.value), "] is not fused with t[", numbers.at(verdict.line->results[0]), "] (",
                 verdict.line->op->name(), "): ", verdict.why, "\n");
    });
  }
  return out;
}

}  // namespace thunder::fusion
