// A plan of memory for all sizes of a trace with symbols: its layouts, bytes and offsets are formulas. Where a trace
// has no symbols they are numbers.
#pragma once

#include <span>

#include "ir/symbolic/formulas.h"
#include "program/kernels.h"
#include "program/plan.h"

namespace thunder {

struct PlanFormulas {
  Formulas formulas;
  std::vector<PlannedStep> steps;
  size_t constant_steps = 0;
  std::vector<FormulaRef> layouts;  // as Plan::layouts
  // Their offsets are unset. A request of a constant is one of constant_bytes.
  std::vector<BufferPlan> buffers;
  std::vector<FormulaRef> offsets;  // by buffer: bytes, from where its request lies if it has one
  std::vector<DeviceArena> arenas = {{}};  // the bytes and offsets of their requests are unset
  std::vector<std::vector<FormulaRef>> bytes, constant_bytes;  // by arena and request
  std::vector<ArenaSlot> slots;  // their bytes and offsets are unset
  std::vector<FormulaRef> slot_bytes;
  std::vector<InputPlan> inputs;  // their types and strides are unset
  std::vector<std::vector<FormulaRef>> input_strides;
  std::vector<bool> donated;  // by input: it was given away
  std::vector<ValueId> outputs;
  size_t in_donated = 0;
  bool may_fail = false;

  // Whether inputs lie as the plan has them, and the same ones are donated.
  bool fits(const InputLayouts& given, std::span<const int64_t> symbols) const;
  // The plan for a trace of the same lines whose sizes are numbers: those that these values of the symbols give. Its
  // inputs must fit.
  Plan plan(const Trace& trace, std::span<const int64_t> symbols) const;
};

struct PlanOptions {
  bool epilogues = false;  // steps may run on the tiles of the step before them
  std::span<const ValueId> channels_last = {};  // sorted: results that lie as [N, H, W, C]; their kernels can do so
};

// Decides which values are views, where every value lies, which copies are needed, and which steps are epilogues. What
// it asks about symbols is noted (DimReads).
PlanFormulas plan_formulas(const Trace& trace, const InputLayouts& inputs, const Kernels& kernels,
                           const PlanOptions& options);

}  // namespace thunder
