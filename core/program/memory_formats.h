// Which results lie in memory as [N, H, W, C].
#pragma once

#include <vector>

#include "program/kernels.h"
#include "program/plan.h"

namespace thunder {

// Values of four dims that nodes make element by element of each other lie alike: so as the kernels that read and write
// most of them are fastest. What leaves the program, or is stored in an input, stays row-major, and values that lie
// alike with it. Sorted.
std::vector<ValueId> find_channels_last(const Trace& trace, const InputLayouts& inputs, const Kernels& kernels);

}  // namespace thunder
