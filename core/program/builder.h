// Builds a program.
#pragma once

#include "program/program.h"

namespace thunder {

// Its functions must be called in this order. All throw; an executor's error is thrown as fail_to_prepare() says.
class ProgramBuilder {
 public:
  // Requires: a claimed trace, and the kernels of all its nodes but views.
  ProgramBuilder(const Trace& trace, Kernels kernels, Devices& devices);

  // `epilogues`: whether steps may run on the tiles of the step before them.
  void plan_memory(const InputLayouts& inputs, bool epilogues);
  // Gives each kernel the layouts of its tensors, each step its kernel, and scratch memory its place. Kernels of
  // libraries on devices, which say late what scratch they need, are finished.
  void adapt_kernels_to_layouts(const CompileSettings& settings, InterruptCheck& check);
  // Joins steps that one launch may compute. They move down to the last of them, so that nothing is written earlier.
  void join_steps();
  // Waits for the kernels that are being compiled.
  void finish(InterruptCheck& check);
  // Binds what stays the same between calls, and runs what runs once. `written`: the user's trace. `fixed`: the
  // addresses of the last inputs, whose memory is the same at every call.
  std::unique_ptr<Program> link(Trace written, std::span<void* const> fixed, ThreadPool& threads);

 private:
  void adapt_step_to_layouts(Step& step, std::span<const Buffer> layouts, const CompileSettings& settings);
  void finish_steps(bool compiled, InterruptCheck& check);

  Trace trace_;
  Kernels kernels_;
  Plan plan_;
  Devices& devices_;
  std::vector<Accelerator*> accelerators_;  // by arena; the CPU's is null
};

}  // namespace thunder
