// The process's one emitter, and the code that it has made.
#pragma once

#include <string>

#include "loops/kernel_cache.h"

namespace thunder::loops {

// Whether the module that emits code is there; opens it at the first call. If not, `why` says what was tried.
bool can_compile(std::string* why = nullptr);

// The emitter's name, version and target: "LLVM 19.1.7 for x86_64-pc-linux-gnu, znver4". Requires: can_compile().
std::string compiler();

// The code of a nest, kept for the whole process, and on disk in BlobStore::default_folder(). Throws when the emitter
// fails. Requires: can_compile(). Any thread.
KernelFn kernel(const CpuNest& nest);

// The code of a nest for another machine, a function "kernel", kept nowhere. Requires: can_compile(). Any thread.
Object compile_for(const TargetOptions& target, const CpuNest& nest);

// Since the process began.
KernelStatistics kernel_statistics();

}  // namespace thunder::loops
