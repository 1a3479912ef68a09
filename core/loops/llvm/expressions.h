// Computes the value of an expression at a cursor, after its operands. Values of a row or a position are memoized.
//
// Needs the kernel, its memory, the tiles and row buffers that values may be loaded from, and a cursor.
#pragma once

#include "loops/llvm/row_buffers.h"
#include "loops/llvm/transposed_tiles.h"

namespace thunder::codegen {

class Expressions {
 public:
  Expressions(Kernel& kernel, Memory& memory, TransposedTiles& tiles, RowBuffers& kept)
      : k_(kernel), b_(kernel.b), nest_(kernel.nest), memory_(memory), tiles_(tiles), row_buffers_(kept) {}

  llvm::Value* evaluate(const Cursor& at, ExprId id);
  // Computes what is constant along a row, before the loop over its positions.
  void evaluate_row_values(const Cursor& at, ExprId id);
  // Resets the scans of a row, before each pass over it.
  void begin_scans(const Cursor& at);

  // For outputs that are stored in intervals (`only`): whether the current interval of the lane axis is inside, and the
  // store, in a branch that tests the other axes.
  bool is_inside_interval(const Cursor& at, const loops::Output& s) const;
  void store_in_intervals(const Cursor& at, const loops::Output& s);

 private:
  Memo& memo_of(const Cursor& at, ExprId id);
  llvm::Value* number(const loops::Expr& e);
  llvm::Value* apply_all(const Cursor& at, const loops::Expr& e);
  llvm::Value* draw_uniform(const Cursor& at, const loops::Expr& e);
  llvm::Value* gather(const Cursor& at, ExprId id);
  void report_bad_index(const Cursor& at, llvm::Value* bad, llvm::Value* index, ExprId id);

  // selects.cpp
  llvm::Value* select(const Cursor& at, ExprId id);
  template <class Make>
  void emit_in_branch(const Cursor& at, const Make& make);
  bool is_lane_axis(const Cursor& at, uint32_t axis) const;
  bool is_below(const Cursor& at, int64_t bound) const;

  // scans.cpp
  unsigned lanes_of_scan(const Cursor& at, llvm::Type* element) const;
  llvm::Value* scan(const Cursor& at, ExprId id);
  llvm::Value* scan_register(const Scan& state, llvm::Value* v, DType d);
  llvm::Value* shift_lanes(llvm::Value* before, llvm::Value* v, unsigned by);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  Memory& memory_;
  TransposedTiles& tiles_;
  RowBuffers& row_buffers_;
};

}  // namespace thunder::codegen
