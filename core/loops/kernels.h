// The process's emitter, and the kernels that it has compiled.
#pragma once

#include <string>

#include "loops/kernel_cache.h"

namespace thunder::loops {

// Whether the emitter's module was found; the first call opens it. If not, `why` says what was tried.
bool can_compile(std::string* why = nullptr);

// The same, or whether there is code that was given to kernels(). The first call opens the module.
bool can_run(std::string* why = nullptr);

// The emitter's name, version and target: "LLVM 19.1.7 for x86_64-pc-linux-gnu, znver4". Requires: can_compile().
std::string compiler();

// The code of a nest, kept for the whole process, and on disk in BlobStore::default_folder(). Throws if the emitter
// fails, or if there is none and the nest's code was not given. Any thread.
KernelFn kernel(const CpuNest& nest);

// All code of the process.
KernelCache& kernels();
// What makes nests and their parameters: code for the nests of one build is for that build alone. And what makes code
// of them: "" without an emitter.
std::string library_build();
const std::string& generator();

// The code of a nest for another machine, as a function of that name; it is not cached. Requires: can_compile(). Any
// thread.
Object compile_for(const TargetOptions& target, const CpuNest& nest, const char* name = "kernel");

// How that code reads: LLVM's IR, or `assembly`. "": there is no emitter. Any thread.
std::string code_text(const CpuNest& nest, bool assembly);

// The machine at hand as the emitter sees it. Requires: can_compile().
struct HostTarget {
  std::string triple, cpu, features;
};
HostTarget host_target();

// Counted since the process began.
KernelStatistics kernel_statistics();

}  // namespace thunder::loops
