// The LLVM values of a kernel's arguments: pointers, and the parameters in the order of loops::parameters().
#pragma once

#include <vector>

#include "loops/cpu/nest.h"
#include "loops/llvm/elementwise.h"

namespace thunder::codegen {

using loops::CpuNest;
using loops::ExprId;

struct Arguments {
  // Reads them at the builder's insertion point, in the function's entry block.
  Arguments(Builder& b, const CpuNest& nest, llvm::Function* function);

  std::vector<llvm::Value*> buffers, extents;
  std::vector<std::vector<llvm::Value*>> strides;       // by map and axis; null: 0
  std::vector<llvm::Value*> offsets, store_offsets;     // by expression, by output; null: 0
  std::vector<std::vector<int64_t>> cuts;  // by axis: the indices at which it is cut
  std::vector<std::vector<llvm::Value*>> cut_at;  // the same as run-time values
  llvm::Value *strip = nullptr, *block = nullptr;       // lengths
  llvm::Value *begin = nullptr, *end = nullptr;         // of the work items
  llvm::Value* index_error = nullptr;

  // The run-time value of a cut of an axis. Requires: the index is one.
  llvm::Value* cut(uint32_t axis, int64_t at) const;
};

}  // namespace thunder::codegen
