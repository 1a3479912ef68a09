#include "program/class_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/alike_lines.h"
#include "ir/dim_reads.h"

namespace thunder {

ClassPlan::ClassPlan(const Trace& lines) : lines_(lines), alike_(first_alike(lines)) {}

bool ClassPlan::holds_for(std::span<const int64_t> symbols, const InputLayouts& inputs) const {
  return formulas_ && conditions_.hold_for(symbols) && formulas_->fits(inputs, symbols);
}

bool ClassPlan::suits(const Kernels& kernels, const Trace& trace) const {
  for (uint32_t i = 0; i < trace.nodes.size(); i++)
    if (leaders_[i] == i && kernels.answers(*trace.nodes[i]) != answers_[i]) return false;
  return true;
}

void ClassPlan::derive(const Trace& trace, const InputLayouts& inputs, Kernels& kernels, const PlanOptions& options) {
  derived_ = true;
  const auto wants = [&](const Node* n) { return kernels.memory_format(*n) == MemoryFormat::channels_last; };
  if (std::any_of(trace.nodes.begin(), trace.nodes.end(), wants)) return;
  for (size_t i = 0; i < trace.nodes.size(); i++) kernels.add_line(*lines_.nodes[i], *trace.nodes[i]);
  DimReads reads(DimReads::Of::lines);
  PlanFormulas made = plan_formulas(lines_, inputs, kernels, options);
  if (!reads.noted().empty()) return;
  formulas_ = std::move(made);
  conditions_ = Conditions(reads.conditions());
  for (const Node* n : trace.nodes) answers_.push_back(kernels.answers(*n));
  find_leaders();
}

// Steps of lines that are alike have one kernel where their tensors lie alike.
void ClassPlan::find_leaders() {
  leaders_.resize(lines_.nodes.size());
  std::iota(leaders_.begin(), leaders_.end(), 0);
  std::map<std::vector<int64_t>, uint32_t> first;
  for (const PlannedStep& step : formulas_->steps) {
    if (step.line < 0) continue;
    const auto line = static_cast<uint32_t>(step.line);
    std::vector<int64_t> key = {alike_[line], step.epilogue_input};
    for (uint32_t b = step.first; b < step.first + step.n_inputs + step.n_outputs; b++) {
      const BufferPlan& buffer = formulas_->buffers[b];
      for (int32_t i = 0; i < 2 * buffer.rank; i++) {
        const FormulaRef& f = formulas_->layouts[buffer.layout + static_cast<uint32_t>(i)];
        key.insert(key.end(), {f.at, f.number});
      }
    }
    leaders_[line] = first.try_emplace(std::move(key), line).first->second;
  }
}

}  // namespace thunder
