// Loads of what lies side by side along the axis of a block: as vectors of that axis, a tile of them at a time, transposed into vectors
// of lanes.
//
// Needs the kernel, its memory and a cursor.
#pragma once

#include "loops/llvm/memory.h"

namespace thunder::codegen {

class TransposedTiles {
 public:
  TransposedTiles(Kernel& kernel, Memory& memory) : k_(kernel), b_(kernel.b), nest_(kernel.nest), memory_(memory) {}

  // Whether a load is one that tiles are made of. Requires: the nest is blocked.
  bool is_transposed(const Cursor& at, ExprId id) const;
  // The block's axis at a cursor: whole tiles, then what is left step by step.
  void emit_block(const Cursor& at, uint32_t axis, const std::function<void(const Cursor&)>& body);
  // One vector of lanes of a tile. Requires: at.tile, is_transposed.
  llvm::Value* load(const Cursor& at, ExprId id);

 private:
  void transpose(const Cursor& at, ExprId id, llvm::Value* first);
  void transpose_quads(llvm::Value** rows, unsigned lanes);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  Memory& memory_;
  std::vector<llvm::Value*> tiles_;  // by expression: a row for each step along the block's axis
};

}  // namespace thunder::codegen
