// The state that is constant while the code of one kernel is generated, and helpers for control flow and variables.
#pragma once

#include <llvm/Analysis/TargetTransformInfo.h>

#include <functional>

#include "base/machine.h"
#include "loops/llvm/arguments.h"

namespace thunder::codegen {

struct Kernel {
  // Begins a function: the block "entry" reads the arguments. `lanes`: elements of the lane axis at a time, in whole
  // vectors. The nest and the machine must live as long.
  Kernel(const CpuNest& nest, llvm::Function* function, unsigned lanes, const llvm::TargetTransformInfo& machine);

  const CpuNest& nest;
  const std::vector<loops::ValueRange> ranges;  // by expression
  const llvm::TargetTransformInfo& machine;
  llvm::Function* const function;
  const unsigned lanes;
  Builder b;
  const Arguments args;

  unsigned register_bits() const;
  // As with AVX-512: a register is as wide as a cache line, so that an unaligned vector always spans two of them, and
  // masks have registers of their own.
  bool has_cache_line_registers() const { return register_bits() >= 8 * kCacheLine; }

  // A loop from begin to end, which may run zero times.
  void emit_loop(llvm::Value* begin, llvm::Value* end, uint64_t step, const std::function<void(llvm::Value*)>& body);
  void emit_branch(llvm::Value* condition, const std::function<void()>& then,
                   const std::function<void()>& otherwise = {});
  // Variables in the frame, which mem2reg turns into registers: one that is initially zero, and a vector whose lanes
  // are initially `first`.
  llvm::Value* allocate_variable(llvm::Type* type);
  llvm::Value* allocate_vector(llvm::Type* element, llvm::Value* first, unsigned n);

  llvm::Value* lane_numbers(unsigned n);
  // Broadcasts a scalar to a vector; returns a vector unchanged.
  llvm::Value* broadcast(llvm::Value* v, unsigned n) { return is_vector(v) ? v : b.CreateVectorSplat(n, v); }
  llvm::FixedVectorType* vector_of(llvm::Type* element, unsigned n) const {
    return llvm::FixedVectorType::get(element, n);
  }

 private:
  static Builder& insert_entry_block(Builder& b, llvm::Function* function);
};

// How many elements of the lane axis a nest computes at a time: several machine vectors, so that their latencies
// overlap, fewer if many values are live at once.
unsigned choose_lanes(const CpuNest& nest, unsigned machine_bits);

}  // namespace thunder::codegen
