#include "jit/logs/perf_hints.h"

#include "base/text.h"
#include "program/kernel_texts.h"

namespace thunder {
namespace {

constexpr uint64_t kWorthAHint = 1 << 14;  // bytes that a step reads and writes

uint64_t bytes_of(const Program& program, const Step& step) {
  uint64_t bytes = 0;
  const Plan& plan = program.plan();
  for (uint32_t b = step.first; b < step.first + step.n_inputs + step.n_outputs; b++)
    if (plan.buffers[b].rank >= 0) bytes += program.bytes_of(plan.buffers[b]);
  return bytes;
}

std::string format_location(const Node* n) { return n && n->where ? cat(" at ", n->where) : ""; }

// The step for which a copy is made: the first one behind it that is made of a node.
const Node* reader_of_copy(const Plan& plan, size_t copy) {
  for (size_t i = copy + 1; i < plan.steps.size(); i++)
    if (plan.steps[i].node) return plan.steps[i].node;
  return nullptr;
}

}  // namespace

std::string perf_hints(const Program& program) {
  std::string out;
  const Plan& plan = program.plan();
  for (size_t i = plan.constant_steps; i < plan.steps.size(); i++) {
    const Step& step = plan.steps[i];
    const uint64_t bytes = bytes_of(program, step);
    if (bytes < kWorthAHint) continue;
    if (!step.node) {
      const Node* reader = reader_of_copy(plan, i);
      out += cat("step ", i + 1, " copies ", bytes / 2, " bytes to a dense tensor",
                 reader ? cat(" for ", reader->op->name()) : "", format_location(reader),
                 ": give it a tensor that is contiguous\n");
    } else if (step.node->executor == std::string_view("host")) {
      out += cat("step ", i + 1, ": ", step.node->op->name(), format_location(step.node),
                 " is computed by the reference alone, ", bytes, " bytes: no faster executor has taken it\n");
    }
  }
  return out;
}

std::string choices_report(const Program& program) {
  std::string out;
  for (const Step& step : program.plan().steps)
    if (const auto* texts = dynamic_cast<const KernelTexts*>(step.kernel.get());
        texts && !texts->chosen_algorithm().empty())
      out += cat(step.node->op->name(), format_location(step.node), ": the fastest was ", texts->chosen_algorithm(),
                 "\n");
  return out;
}

}  // namespace thunder
