// The target for CPUs: schedules for caches and vectors, code by LLVM's module, threads of the context's pool.
#pragma once

#include "base/machine.h"
#include "loops/target.h"

namespace thunder::loops {

// The machine must live as long.
std::unique_ptr<const Target> cpu_target(const Machine& machine);

}  // namespace thunder::loops
