// Horizontal fusion of steps: those that run one kernel on different memory become one launch.
#pragma once

#include "program/program.h"

namespace thunder {

using JoinedSteps = std::vector<size_t>;  // numbers of steps, ascending

// The steps of a plan that may be joined: of one kind, by step, and such that all of them may run in the place of the
// last one. Time is linear in the number of steps.
std::vector<JoinedSteps> joined_steps(const Plan& plan, std::span<const Joinable> joinable);

}  // namespace thunder
