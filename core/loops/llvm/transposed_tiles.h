// Emits loads of transposed operands, which are contiguous along the block axis: it loads a tile of vectors along that
// axis and transposes it into vectors along the lane axis.
//
// Needs the kernel, its memory and a cursor.
#pragma once

#include "loops/llvm/memory.h"

namespace thunder::codegen {

class TransposedTiles {
 public:
  TransposedTiles(Kernel& kernel, Memory& memory) : k_(kernel), b_(kernel.b), nest_(kernel.nest), memory_(memory) {}

  // Whether a load reads transposed tiles. Requires: the nest is blocked.
  bool is_transposed(const Cursor& at, ExprId id) const;
  // Emits the loop over the block axis at a cursor: whole tiles, then the remainder without tiles.
  void emit_block(const Cursor& at, uint32_t axis, const std::function<void(const Cursor&)>& body);
  // One vector along the lane axis of a tile. Requires: at.tile, is_transposed.
  llvm::Value* load(const Cursor& at, ExprId id);

 private:
  void transpose(const Cursor& at, ExprId id, llvm::Value* first);
  void transpose_quads(llvm::Value** rows, unsigned lanes);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  Memory& memory_;
  std::vector<llvm::Value*> tiles_;  // by expression: a row for each step along the block axis
};

}  // namespace thunder::codegen
