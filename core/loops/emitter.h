// What turns a loop nest into code that runs here. Implemented by a module of its own, so that this header is all that
// the module and the library share; no exceptions and no library objects cross it.
#pragma once

#include <string>
#include <vector>

#include "loops/cpu/nest.h"

namespace thunder::loops {

// Computes the work items begin <= i < end. `buffers`: the nest's arguments. `parameters`: those of the nest, then the
// length of a piece of the lane axis and of a block, which nests without them do not read.
using KernelFn = void (*)(void* const* buffers, const int64_t* parameters, int64_t begin, int64_t end, Refusal* refusal);

struct Object {
  std::vector<char> code;  // relocatable machine code
  std::string error;       // why there is none
};

class Emitter {
 public:
  virtual ~Emitter() = default;
  // Names the target and the version of the code generator: part of every key.
  virtual const char* target() const = 0;
  // Machine code of the nest as one function of that name. Any thread, several at a time.
  virtual Object compile(const CpuNest& nest, const char* name) = 0;
  // Makes such code callable; it stays until the process ends. Null: `error` says why, as it does of another machine's code.
  virtual KernelFn load(const std::vector<char>& code, const char* name, std::string& error) = 0;
};

// The machine that code is made for, in LLVM's words.
struct TargetOptions {
  const char* triple;    // "aarch64-unknown-linux-gnu"
  const char* cpu;       // "neoverse-n1", "generic"
  const char* features;  // beside the CPU's own: "+bf16,-sve"
};

// What the module exports under this name. No target: the machine at hand. Null: it is not supported.
using MakeEmitter = Emitter* (*)(uint32_t version, const TargetOptions* target);
constexpr char kMakeEmitter[] = "thunder_make_emitter";
constexpr uint32_t kEmitterVersion = 15;  // of this header and cpu/nest.h: both sides are built from one tree

}  // namespace thunder::loops
