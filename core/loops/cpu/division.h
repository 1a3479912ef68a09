// How a nest is cut into work items.
#pragma once

#include "base/machine.h"
#include "loops/cpu/nest.h"

namespace thunder::loops {

// Elements of the lane axis in a work item, where it is split and nothing else asks for more or fewer.
constexpr int64_t kPiece = 4096;

// The last two parameters of a kernel.
struct Division {
  int64_t piece;  // elements of the lane axis
  int64_t block;  // of the block axis, if there is one
};

// Requires: it is marked what is streamed.
Division divide(const CpuNest& nest, const Machine& machine);

}  // namespace thunder::loops
