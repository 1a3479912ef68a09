#include "program/class_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/alike_lines.h"
#include "ir/dim_reads.h"

namespace thunder {

ClassPlan::ClassPlan(const Trace& lines) : lines_(lines), alike_(first_alike(lines)) {}

bool ClassPlan::suits(const Plan& plan, const Kernels& kernels, const Trace& trace) const {
  return std::all_of(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    const auto line = static_cast<size_t>(step.line);
    return !step.node || step.kernel || leaders_[line] != line || kernels.answers(*trace.nodes[line]) == answers_[line];
  });
}

void ClassPlan::derive(const Trace& trace, std::span<const int64_t> symbols, const InputLayouts& inputs,
                       Kernels& kernels, const PlanOptions& options) {
  derived_ = true;
  const auto wants = [&](const Node* n) { return kernels.memory_format(*n) == MemoryFormat::channels_last; };
  if (std::any_of(trace.nodes.begin(), trace.nodes.end(), wants)) return;
  for (size_t i = 0; i < trace.nodes.size(); i++) kernels.add_line(*lines_.nodes[i], *trace.nodes[i]);
  DimReads reads(DimReads::Of::lines);
  PlanFormulas made = plan_formulas(lines_, inputs, kernels, options);
  if (!reads.noted().empty()) return;
  formulas_ = std::move(made);
  conditions_ = Conditions(reads.conditions());
  formulas_->keep_order(formulas_->plan(lines_.nodes, formulas_->formulas.evaluate(symbols)));
  for (const Node* n : trace.nodes) answers_.push_back(kernels.answers(*n));
  kernels_.resize(lines_.nodes.size());
  find_leaders();
}

std::optional<Plan> ClassPlan::plan_for(std::span<const int64_t> symbols, const InputLayouts& inputs) const {
  if (!formulas_ || !conditions_.hold_for(symbols)) return {};
  const std::vector<int64_t> values = formulas_->formulas.evaluate(symbols);
  if (!formulas_->fits(inputs, values)) return {};
  Plan plan = formulas_->plan(lines_.nodes, values);
  for (Step& step : plan.steps)
    if (step.node && leaders_[static_cast<size_t>(step.line)] == static_cast<uint32_t>(step.line))
      step.kernel = kernel_for(plan, step, symbols);
  return plan;
}

std::shared_ptr<Kernel> ClassPlan::kernel_for(const Plan& plan, const Step& step,
                                              std::span<const int64_t> symbols) const {
  const LineKernels& kept = kernels_[static_cast<size_t>(step.line)];
  if (kept.variants.empty()) return nullptr;
  SmallVector<Buffer, 16> buffers;
  for (uint32_t b = step.first; b < step.first + step.n_inputs + step.n_outputs; b++)
    buffers.push_back(buffer_of(plan, plan.buffers[b]));
  const std::span<const Buffer> all(buffers.data(), buffers.size());
  const SizedLine line{symbols, all.first(step.n_inputs), all.subspan(step.n_inputs)};
  for (const auto& variant : kept.variants)
    if (std::shared_ptr<Kernel> kernel = variant->kernel_for(line)) return kernel->add_flags(kept.flags), kernel;
  return nullptr;
}

struct ClassPlan::LinesOf::Made {
  Made(const std::shared_ptr<Store>& store, const std::vector<int64_t>& symbols)
      : sizes(symbols_with(symbols)), specialise(store, sizes) {}
  std::vector<Dim> symbols_with(const std::vector<int64_t>& values) {
    std::vector<Dim> out;
    for (int64_t v : values) out.push_back(dims.symbol(v));
    return out;
  }
  Dims dims;
  Substitution sizes;
  Specialisation specialise;
};

void ClassPlan::keep_kernel(const PlannedStep& step, const Kernel& kernel, LinesOf& lines) {
  const auto line = static_cast<uint32_t>(step.line);
  LineKernels& kept = kernels_[line];
  if (kept.needs_line || kept.variants.size() == LineKernels::kMost) return;
  if (!lines.made_) lines.made_ = std::make_shared<LinesOf::Made>(lines_.store, lines.symbols_);
  LinesOf::Made& at_hand = *lines.made_;
  kept.flags = kernel.flags();
  auto variant = kernel.of_class({*at_hand.specialise(lines_.nodes[line]), at_hand.specialise.store(),
                              layouts(step.first, step.n_inputs, at_hand.sizes),
                              layouts(step.first + step.n_inputs, step.n_outputs, at_hand.sizes), step.epilogue_input,
                              lines_.nodes[line]});
  if (!(kept.needs_line = !variant)) kept.variants.push_back(std::move(variant));
}

std::vector<TensorLayout> ClassPlan::layouts(uint32_t first_buffer, uint32_t count, Substitution& sizes) const {
  std::vector<TensorLayout> out;
  for (uint32_t b = first_buffer; b < first_buffer + count; b++) {
    const BufferPlan& buffer = formulas_->buffers[b];
    TensorLayout& layout = out.emplace_back(TensorLayout{buffer.dtype, {}, {}});
    for (int32_t i = 0; i < 2 * buffer.rank; i++) {
      const FormulaRef& f = formulas_->layouts[buffer.layout + static_cast<uint32_t>(i)];
      (i < buffer.rank ? layout.sizes : layout.strides).push_back(sizes(formulas_->formulas.dim(f)));
    }
  }
  return out;
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
