#include "program/report.h"

#include "base/text.h"
#include "ir/print.h"
#include "ir/spelling.h"

namespace thunder {

namespace {

// The numbers that values and nodes have in the printed trace.
struct PrintedNumbers {
  explicit PrintedNumbers(const Trace& trace) : values(trace.store->size()) {
    uint32_t value = 0;
    size_t line = 0;
    for (const Node* n : trace.nodes) {
      const size_t first = line + 1;
      spelling::for_each_line(*n, [&](const Node& printed) {
        line++;
        for (ValueId r : printed.results) values[r] = ++value;
      });
      lines.push_back({first, line});
    }
  }
  struct Lines {
    size_t first, last;  // from 1
  };
  std::vector<uint32_t> values;  // by value: k of t[k]
  std::vector<Lines> lines;      // by node
};

}  // namespace

std::string formats_report(const Program& program) {
  return print(program.trace(), {.channels_last = program.plan().channels_last});
}

std::string memory_report(const Program& program) {
  const Plan& plan = program.plan();
  size_t results = 0;
  for (const DenseType& t : plan.outputs) results += t.bytes;
  std::string out = cat("a call: ", program.peak_bytes(), " bytes at most (arena ", plan.arenas[0].bytes,
                        ", constants ", plan.arenas[0].constant_bytes,
                        program.kept_bytes() ? cat(", kept of frozen inputs ", program.kept_bytes()) : "", "), and ",
                        results, " of results",
                        plan.in_donated ? cat("; ", plan.in_donated, " in donated arguments") : "", "\n");
  for (size_t i = 1; i < plan.arenas.size(); i++)
    out += cat("on ", name(plan.arenas[i].device), ": ", program.peak_bytes(plan.arenas[i].device),
               " bytes at most (arena ", plan.arenas[i].bytes, ", constants ", plan.arenas[i].constant_bytes, ")\n");
  if (const std::string graph = program.recording_report(); !graph.empty()) out += cat("CUDA graph ", graph, "\n");
  const PrintedNumbers printed(program.trace());
  for (const ArenaSlot& s : plan.slots)
    out += cat(s.arena ? cat(name(plan.arenas[s.arena].device), " ") : "", "arena ", s.offset, " to ",
               s.offset + static_cast<int64_t>(s.bytes), ": t[", printed.values[s.value], "], lines ",
               printed.lines[s.first].first, " to ", printed.lines[s.last].last, "\n");
  return out;
}

std::string loops_report(const Program& program) {
  std::string out;
  size_t kernels = 0;
  const auto add = [&](const Step& step) {
    const std::string text = program.explain(step);
    if (text.empty()) return;
    const Node& node = *step.node;
    const std::span<const Node* const> lines =
        node.body.empty() ? std::span(&step.node, 1) : std::span<const Node* const>(node.body);
    out += cat(out.empty() ? "" : "\n", "kernel ", ++kernels, ": ",
               join(lines, ", ", [](const Node* n) { return n->op->name(); }));
    out += cat(node.where ? cat(" [at ", node.where, "]") : "", "\n", text);
  };
  for (const Step& step : program.plan().steps) add(step);
  for (const Step& step : program.plan().epilogues) add(step);
  return out;
}

}  // namespace thunder
