// The plan that programs of one class of sizes share: formulas of the symbols, and the conditions that they ask.
#pragma once

#include <optional>

#include "ir/conditions.h"
#include "program/plan_formulas.h"

namespace thunder {

// One thread at a time.
class ClassPlan {
 public:
  // `lines`: the trace with symbols, whose sizes when it was recorded decide. It must outlive this.
  explicit ClassPlan(const Trace& lines);

  // By line: the first one that is like it, maybe itself.
  std::span<const uint32_t> alike() const { return alike_; }
  // By line: the first one whose kernel serves this one, too, for all sizes of the class. Empty: it is not known.
  std::span<const uint32_t> leaders() const { return leaders_; }
  // Whether the plan is made, and holds for these values of the symbols. Throws where a formula has no value.
  bool holds_for(std::span<const int64_t> symbols, const InputLayouts& inputs) const;
  // Whether the kernels of the leaders are of the kinds that the plan was made for.
  bool suits(const Kernels& kernels, const Trace& trace) const;
  // Makes it, of the kernels of a trace that has numbers in the place of the symbols. There is none where a kernel
  // wants channels last: which values lie so is decided for each size.
  void derive(const Trace& trace, const InputLayouts& inputs, Kernels& kernels, const PlanOptions& options);
  bool derived() const { return derived_; }
  // Requires: it holds.
  Plan plan(const Trace& trace, std::span<const int64_t> symbols) const { return formulas_->plan(trace, symbols); }

 private:
  void find_leaders();

  const Trace& lines_;
  const std::vector<uint32_t> alike_;
  std::vector<uint32_t> leaders_;
  bool derived_ = false;
  std::optional<PlanFormulas> formulas_;  // none: some size was looked at as a number
  Conditions conditions_;
  std::vector<uint64_t> answers_;  // by line: what the plan asked of its kernel
};

// The class of sizes that a program belongs to, and the values of its symbols. No plan: its sizes are numbers.
struct SizesOfClass {
  ClassPlan* plan = nullptr;
  std::span<const int64_t> symbols = {};
  bool shares_plan = false;  // it holds for them, and lines have the kernels of their leaders
};

}  // namespace thunder
