#include "jit/reports/repro.h"

#include <algorithm>

#include "base/text.h"
#include "ir/print.h"

namespace thunder {
namespace {

// The lines of a node as a separate trace, whose arguments are the values from outside.
Trace extract_trace(const Trace& whole, const std::vector<const Node*>& lines, std::span<const ValueId> results) {
  Trace out;
  out.store = whole.store, out.function = whole.function, out.pass = "repro";
  std::vector<ValueId> known;
  const auto is_known = [&](ValueId v) { return std::find(known.begin(), known.end(), v) != known.end(); };
  for (const Node* n : lines) {
    for_each_value(n->args, [&](ValueId v) {
      if (is_known(v)) return;
      known.push_back(v);
      out.inputs.push_back({v, Source::argument, static_cast<uint32_t>(out.inputs.size()), ""});
    });
    known.insert(known.end(), n->results.begin(), n->results.end());
    out.nodes.push_back(n);
  }
  out.outputs.assign(results.begin(), results.end());
  return out;
}

}  // namespace

std::string repro_script(const Program& program, size_t number) {
  const Plan& plan = program.plan();
  require(number >= 1 && number <= plan.steps.size(), "repro: there is no step ", number, ", there are ",
          plan.steps.size());
  const Step& step = plan.steps[number - 1];
  require(step.node != nullptr, "repro: step ", number, " copies a tensor, and computes nothing");
  std::vector<const Node*> lines = nodes_of(*step.node);
  if (step.node->op->name() != "region") lines = {step.node};
  std::vector<ValueId> results(step.node->results.begin(), step.node->results.end());
  if (step.epilogue >= 0) {
    const Node& epilogue = *plan.epilogues[static_cast<size_t>(step.epilogue)].node;
    for (const Node* n : epilogue.op->name() == "region" ? nodes_of(epilogue) : std::vector<const Node*>{&epilogue})
      lines.push_back(n);
    results.assign(epilogue.results.begin(), epilogue.results.end());
  }
  const std::string text = print(extract_trace(program.trace(), lines, results));
  return cat("-- Step ", number, " of ", program.trace().function, ": ",
             join(lines, ", ", [](const Node* n) { return n->op->name(); }),
             step.node->executor ? cat(", by ", step.node->executor) : "", ".\n-- thunder run THIS_FILE computes it "
             "compiled and by the reference, and says how far the two are apart.\nlocal th = require \"thunder\"\n"
             "th.run_repro([==[\n", text, "]==])\n");
}

}  // namespace thunder
