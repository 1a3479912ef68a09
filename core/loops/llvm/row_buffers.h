// Buffers of one row for the values that a later pass uses again (CpuNest::kept). They are in the function's frame, so
// that they stay in the L1 cache.
//
// Needs the kernel and a cursor.
#pragma once

#include "loops/llvm/cursor.h"
#include "loops/llvm/kernel.h"

namespace thunder::codegen {

class RowBuffers {
 public:
  explicit RowBuffers(Kernel& kernel) : k_(kernel), b_(kernel.b), nest_(kernel.nest) {}

  // Allocates a row for each kept value of each pipelined row, in the entry block.
  void allocate(std::vector<Row>& rows);
  // Marks all buffers as not filled.
  void clear() { filled_in_.assign(nest_.exprs.size(), UINT32_MAX); }

  // Whether the value has a buffer that may be used here: not in a gather, which reads other positions, nor in a
  // branch, whose values are not valid everywhere.
  bool is_kept(const Cursor& at, ExprId id) const;
  // Whether an earlier pass has filled it.
  bool is_filled(const Cursor& at, ExprId id) const { return filled_in_[id] < at.pass(); }
  void store(const Cursor& at, ExprId id, llvm::Value* v);
  llvm::Value* load(const Cursor& at, ExprId id);

 private:
  llvm::Value* address(const Cursor& at, ExprId id);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  std::vector<uint32_t> filled_in_;  // by expression: the pass that filled it
};

}  // namespace thunder::codegen
