// The plan that programs of one class of sizes share: formulas of the symbols, and the conditions that they ask.
#pragma once

#include <optional>

#include "ir/stage_traces.h"
#include "ir/symbolic/conditions.h"
#include "ir/symbolic/substitution.h"
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
  // The kernel of a line for these values of the symbols, where it can be made without the line; else null.
  KernelPtr kernel_for(uint32_t line, std::span<const int64_t> symbols) const;
  // The lines with symbols whose values at hand are those of one program; made when they are first needed.
  class LinesOf {
   public:
    explicit LinesOf(std::span<const int64_t> symbols) : symbols_(symbols.begin(), symbols.end()) {}

   private:
    friend class ClassPlan;
    struct Made;
    const std::vector<int64_t> symbols_;
    std::shared_ptr<Made> made_;
  };
  // Keeps how kernels like that of a step are made, which is laid out for these sizes.
  void keep_kernel(const PlannedStep& step, const Kernel& kernel, LinesOf& lines);
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
  std::vector<TensorLayout> layouts(uint32_t first_buffer, uint32_t count, Substitution& sizes) const;

  // What makes a line's kernels: a variant for each set of decisions about its sizes.
  struct LineKernels {
    static constexpr size_t kMost = 8;
    std::vector<std::unique_ptr<const KernelOfClass>> variants;
    bool needs_line = false;  // each is prepared
  };

  const Trace& lines_;
  const std::vector<uint32_t> alike_;
  std::vector<uint32_t> leaders_;
  bool derived_ = false;
  std::optional<PlanFormulas> formulas_;  // none: some size was looked at as a number
  Conditions conditions_;
  std::vector<LineKernels> kernels_;  // by line
  std::vector<uint64_t> answers_;  // by line: what the plan asked of its kernel
};

// The class of sizes that a program belongs to, and the values of its symbols. No plan: its sizes are numbers.
struct SizesOfClass {
  ClassPlan* plan = nullptr;
  std::span<const int64_t> symbols = {};
  // Puts numbers into lines. In a program that shares the plan only those have numbers whose kernels were prepared.
  std::shared_ptr<Specialisation> specialise = nullptr;
  std::shared_ptr<const DeferredTraces> traces = nullptr;  // of all stages, with numbers everywhere
  bool shares_plan = false;  // it holds for them, and lines have the kernels of their leaders
};

}  // namespace thunder
