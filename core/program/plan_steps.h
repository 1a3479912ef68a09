// The steps of a plan, once it is known which values are views, constants, inputs and outputs.
#pragma once

#include "base/checked.h"
#include "program/locations.h"
#include "program/plan_formulas.h"

namespace thunder {

// A value that is copied to an input or an output when all nodes have run.
struct FinalCopy {
  ValueId value;
  Place place;
  uint32_t index;
};

// Rounded up to the alignment of values in arenas.
inline int64_t aligned(size_t bytes) {
  return checked_add(static_cast<int64_t>(bytes), kAlign - 1) / kAlign * kAlign;
}

// The index of a device's arena, which the first value on the device creates.
uint32_t find_or_add_arena(std::vector<DeviceArena>& arenas, Device device);

// Places the values that have no place yet in arenas, by their lifetimes, and adds a step for each node that is no view
// and for each copy.
void plan_steps(const Trace& trace, const std::vector<Shape>& strides, const Kernels& kernels,
                std::vector<FinalCopy> copies, Locations& locations, PlanFormulas& plan);

}  // namespace thunder
