// Runs the stages of a compile in the table's order, with the caller's passes between them.
#pragma once

#include "compile/compilation.h"

namespace thunder {

// Runs the stages that are not left out on the compilation's latest trace, of a joint one those of joint_stages(), and
// times each. Throws at an unknown or required name among those to be left out, and what a stage reports.
void run_stages(Compilation& compilation);

// Throws when a pass of the caller's has a taken name or stands beside one that is not there.
void check_places(const CustomPasses& custom);

// Throws at the name of a required stage: `who` cannot leave it out. Other names may be those of callers' passes.
void check_optional(std::span<const std::string> passes, std::string_view who);

// On a clock that never goes back.
double now_ms();

}  // namespace thunder
