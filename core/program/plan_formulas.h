// A plan of memory for all sizes of a trace with symbols: its layouts, bytes and offsets are formulas. Where a trace
// has no symbols they are numbers.
#pragma once

#include <optional>
#include <span>

#include "ir/symbolic/formulas.h"
#include "program/arena/arena_order.h"
#include "program/kernels.h"
#include "program/plan.h"

namespace thunder {

// A tensor's type, whose sizes are formulas.
struct TypeFormulas {
  TypeFormulas(const TensorType& t, Formulas& formulas) : type(t) {
    type.shape.clear();
    for (Dim d : t.shape) shape.push_back(formulas.add(d));
  }
  TensorType type;  // without sizes
  std::vector<FormulaRef> shape;
};

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
  std::vector<TypeFormulas> input_types;
  std::vector<std::vector<FormulaRef>> input_strides;
  std::vector<bool> donated;  // by input: it was given away
  std::vector<TypeFormulas> outputs;
  size_t in_donated = 0;
  bool may_fail = false;

  // Where requests of the CPU's arena lie relative to each other; none: they are placed in the order of time.
  std::optional<ArenaOrder> order;

  // Whether inputs lie as the plan has them, and the same ones are donated. `values`: of the formulas.
  bool fits(const InputLayouts& given, std::span<const int64_t> values) const;
  // The plan for these values of the formulas. Its inputs must fit. `lines`: those of the trace that it was made of, or
  // of one that has numbers in the place of the symbols.
  Plan plan(std::span<const Node* const> lines, std::span<const int64_t> values) const;
  // From now on values are placed as this plan has placed them.
  void keep_order(const Plan& plan);
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
