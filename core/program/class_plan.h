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
  // Makes it, of the kernels of a trace that has numbers in the place of the symbols: these. There is none where a
  // kernel wants channels last: which values lie so is decided for each size.
  void derive(const Trace& trace, std::span<const int64_t> symbols, const InputLayouts& inputs, Kernels& kernels,
              const PlanOptions& options);
  bool derived() const { return derived_; }
  // The plan for these values of the symbols; none where it does not hold for them. Steps have those kernels, laid out,
  // that can be made without their lines; of those that share one, the leader's has it. Throws where a formula has no
  // value.
  std::optional<Plan> plan_for(std::span<const int64_t> symbols, const InputLayouts& inputs) const;
  // Whether the kernels of the leaders whose steps have none are of the kinds that the plan was made for.
  bool suits(const Plan& plan, const Kernels& kernels, const Trace& trace) const;

  // Lines whose executor must be asked at each size whether it still takes them.
  void ask_again(std::vector<uint32_t> lines) { asked_ = std::move(lines); }
  std::span<const uint32_t> asked_again() const { return asked_; }

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

 private:
  void find_leaders();
  std::shared_ptr<Kernel> kernel_for(const Plan& plan, const Step& step, std::span<const int64_t> symbols) const;
  std::vector<TensorLayout> layouts(uint32_t first_buffer, uint32_t count, Substitution& sizes) const;

  // What makes a line's kernels: a variant for each set of decisions about its sizes.
  struct LineKernels {
    static constexpr size_t kMost = 8;
    std::vector<std::unique_ptr<const KernelOfClass>> variants;
    uint32_t flags = 0;       // of all
    bool needs_line = false;  // each is prepared
  };

  const Trace& lines_;
  const std::vector<uint32_t> alike_;
  std::vector<uint32_t> leaders_, asked_;
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
  std::shared_ptr<SizedLines> lines = nullptr;             // for those whose kernels are prepared
  std::shared_ptr<const DeferredTraces> traces = nullptr;  // of all stages, with numbers everywhere
  bool shares_plan = false;  // it holds for them, and lines have the kernels of their leaders
};

}  // namespace thunder
