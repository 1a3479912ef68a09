// Builds a program.
#pragma once

#include "ir/stage_traces.h"
#include "program/class_plan.h"
#include "program/program.h"

namespace thunder {

// Its functions must be called in this order; the first one and join_steps() may be left out. All throw; an executor's
// error is thrown as fail_to_prepare() says.
class ProgramBuilder {
 public:
  // Requires: a claimed trace, and the kernels of all its nodes but views. `plan`: of the class of sizes that it is of,
  // whose steps may have kernels. None: it is made.
  ProgramBuilder(const Trace& trace, Kernels kernels, Devices& devices, std::optional<Plan> plan = {});

  // Finds the results that are to lie as [N, H, W, C].
  void choose_memory_formats(const InputLayouts& inputs);
  // `epilogues`: whether steps may run on the tiles of the step before them.
  // `of`: the class of sizes that the program belongs to, whose plan is made if there is none. From then on it shares
  // the plan if that holds.
  void plan_memory(const InputLayouts& inputs, bool epilogues, SizesOfClass& of);
  // Gives each kernel the layouts of its tensors, each step its kernel, and scratch memory its place. Kernels of
  // libraries on devices, which say late what scratch they need, are finished.
  void adapt_kernels_to_layouts(const CompileSettings& settings, const SizesOfClass& of, InterruptCheck& check);
  // Joins steps that one launch may compute. They move down to the last of them, so that nothing is written earlier.
  void join_steps();
  // Waits for the kernels that are being compiled.
  void finish(InterruptCheck& check);
  // Binds what stays the same between calls, and runs what runs once. `traces`: the first is the user's, the last one
  // the builder's. `fixed`: the addresses of the last inputs, whose memory is the same at every call.
  std::unique_ptr<Program> link(StageTraces traces, const SizesOfClass& of, std::span<void* const> fixed,
                                ThreadPool& threads);

 private:
  void prepare_step_of(Step& step, const CompileSettings& settings, const SizesOfClass& of, ClassPlan::LinesOf& lines);
  bool may_share(const Step& step, const Kernel& kernel) const;
  void finish_steps(bool compiled, InterruptCheck& check);

  Trace trace_;
  Kernels kernels_;
  std::vector<ValueId> channels_last_;  // sorted
  Plan plan_;
  bool are_finished_ = true;  // all kernels
  Devices& devices_;
  bool is_planned_;
  std::vector<Accelerator*> accelerators_;  // by arena; the CPU's is null
};

}  // namespace thunder
