// The interface of the code generator for CPUs, which turns a loop nest into machine code. It is implemented by a
// module of its own, so no exceptions and no objects of the library pass through it.
#pragma once

#include <string>
#include <vector>

#include "loops/cpu/nest.h"

namespace thunder::loops {

// Computes the work items begin <= i < end. `buffers`: the nest's arguments. `parameters`: those of the nest, then the
// lengths of a strip of the lane axis and of a block, which nests without these do not read.
using KernelFn = void (*)(void* const* buffers, const int64_t* parameters, int64_t begin, int64_t end,
                          IndexError* index_error);

struct Object {
  std::vector<char> code;  // a relocatable object
  std::string error;  // if there is no code
};

class Emitter {
 public:
  virtual ~Emitter() = default;
  // The name of the target and version of the code generator: part of every key.
  virtual const char* target() const = 0;
  // Machine code of the nest as one function of that name. Any thread, several at a time.
  virtual Object compile(const CpuNest& nest, const char* name) = 0;
  // The code as text: LLVM's optimized IR, or `assembly`. In case of an error, its message.
  virtual std::string text(const CpuNest& nest, const char* name, bool assembly) = 0;
  // Loads such code; it stays loaded until the process ends. Null: `error` says why, for example because it is for
  // another machine.
  virtual KernelFn load(const std::vector<char>& code, const char* name, std::string& error) = 0;
};

// A target machine, in LLVM's terms.
struct TargetOptions {
  const char* triple;    // "aarch64-unknown-linux-gnu"
  const char* cpu;       // "neoverse-n1", "generic"
  const char* features;  // beside the CPU's own: "+bf16,-sve"
};

// The function exported under this name. Without a target: for this machine. Null: the target is not supported.
using MakeEmitter = Emitter* (*)(uint32_t version, const TargetOptions* target);
constexpr char kMakeEmitter[] = "thunder_make_emitter";
constexpr uint32_t kEmitterVersion = 16;  // of this header and cpu/nest.h: both sides must be built from one tree

}  // namespace thunder::loops
