// The name of a kernel as users see it: in CUDA's profilers, in perf and in reports.
#pragma once

#include <string>

#include "loops/nest.h"

namespace thunder::loops {

// "fused_exp_mul_sum": the functions that the nest computes, each once, and of many the first ones.
std::string kernel_name(const Nest& nest);

}  // namespace thunder::loops
