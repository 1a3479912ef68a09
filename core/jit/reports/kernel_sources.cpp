#include "jit/reports/kernel_sources.h"

#include "base/text.h"
#include "program/cost.h"
#include "program/kernel_texts.h"

namespace thunder {

std::string kernel_sources(const Program& program, std::string_view form) {
  std::string out;
  const std::string_view comment = form == "cuda" ? "//" : form == "llvm" ? ";" : "#";
  const Plan& plan = program.plan();
  const auto add = [&](const Step& step, size_t number) {
    const auto* texts = dynamic_cast<const KernelTexts*>(step.kernel.get());
    const std::string text = texts ? texts->source(form) : "";
    if (text.empty()) return;
    const Node& n = *step.node;
    out += cat(out.empty() ? "" : "\n", comment, " step ", number, ": ",
               ops_of(n), n.where ? cat(" at ", n.where) : "", "\n", text);
  };
  for (size_t i = 0; i < plan.steps.size(); i++) {
    add(plan.steps[i], i + 1);
    if (plan.steps[i].epilogue >= 0) add(plan.epilogues[static_cast<size_t>(plan.steps[i].epilogue)], i + 1);
  }
  return out;
}

}  // namespace thunder
