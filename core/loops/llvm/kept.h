// Kept rows: values that a later pass uses again, one row long, in the function's frame, so that they stay in the L1
// cache.
//
// Needs the kernel and a cursor.
#pragma once

#include "loops/llvm/cursor.h"
#include "loops/llvm/kernel.h"

namespace thunder::codegen {

class KeptRows {
 public:
  explicit KeptRows(Kernel& kernel) : k_(kernel), b_(kernel.b), nest_(kernel.nest) {}

  // Allocates a row for each kept value of each pipelined row, in the entry block.
  void allocate(std::vector<Row>& rows);
  // Marks all as not filled.
  void clear() { kept_in_.assign(nest_.exprs.size(), UINT32_MAX); }

  // Only at the loops' own indices: gathers read others, and values computed in a branch are not valid everywhere.
  bool is_kept(const Cursor& at, ExprId id) const;
  // Whether an earlier pass has filled it.
  bool has(const Cursor& at, ExprId id) const { return kept_in_[id] < at.pass(); }
  void keep(const Cursor& at, ExprId id, llvm::Value* v);
  llvm::Value* load(const Cursor& at, ExprId id);

 private:
  llvm::Value* address(const Cursor& at, ExprId id);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  std::vector<uint32_t> kept_in_;  // by expression: the pass that filled it
};

}  // namespace thunder::codegen
