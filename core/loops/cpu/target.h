// The target for CPUs, which schedules nests for caches and vectors, has LLVM's module compile them, and runs them on
// the context's thread pool.
#pragma once

#include "base/machine.h"
#include "loops/target.h"

namespace thunder::loops {

// The machine must live as long.
std::unique_ptr<const Target> cpu_target(const Machine& machine);

}  // namespace thunder::loops
