// Emits the code of one nest: its work items, the rows of each, the passes over a row, and the positions of a pass. It
// uses all other units of this folder.
#pragma once

#include <span>

#include "loops/llvm/lane_loops.h"
#include "loops/llvm/reductions.h"

namespace thunder::codegen {

class NestCode {
 public:
  NestCode(const CpuNest& nest, llvm::Function* function, unsigned lanes, const llvm::TargetTransformInfo& machine);
  void emit();

 private:
  using Body = std::function<void(const Cursor&)>;

  Cursor delinearize(const Cursor& at, llvm::Value* item);
  void for_each_row(const Cursor& at, std::span<Row> rows, const Body& body);
  void emit_rows(const Cursor& at);
  void clear_memoized(Row& row);
  void store_row(const Cursor& at);
  void emit_pass(const Cursor& at, std::span<Row> rows);
  void emit_inner(const Cursor& at, uint32_t axis, const Body& body);
  void store_all(const Cursor& at, const std::vector<const loops::Output*>& stores);

  // software_pipeline.cpp
  void emit_software_pipeline(const Cursor& at);
  void allocate_results();
  void emit_passes(const Cursor& at, size_t first, size_t count);
  void load_results(Row& row);
  void move_rows_to_next_pass();

  Kernel k_;
  Builder& b_;
  const CpuNest& nest_;
  const bool software_pipelined_;
  Memory memory_;
  TransposedTiles tiles_;
  RowBuffers row_buffers_;
  Expressions expressions_;
  Reductions reductions_;
  LaneLoops lane_loops_;
  std::vector<Row> rows_;
};

}  // namespace thunder::codegen
