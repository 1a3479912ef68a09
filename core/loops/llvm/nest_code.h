// The code of one nest: work items, rows, passes, positions. It alone uses all other units.
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
  void each_row(const Cursor& at, std::span<Row> rows, const Body& body);
  void emit_rows(const Cursor& at);
  void begin_row(Row& row);
  void store_row(const Cursor& at);
  void emit_pass(const Cursor& at, std::span<Row> rows);
  void emit_inner(const Cursor& at, uint32_t axis, const Body& body);
  void store_all(const Cursor& at, const std::vector<const loops::Output*>& stores);

  // overlap.cpp: software-pipelined rows, each in another pass
  void emit_overlapping(const Cursor& at);
  void allocate_results();
  void emit_passes(const Cursor& at, size_t first, size_t count);
  void restore(Row& row);
  void advance();

  Kernel k_;
  Builder& b_;
  const CpuNest& nest_;
  const bool overlapping_;
  Memory memory_;
  TransposedTiles tiles_;
  KeptRows kept_;
  Expressions expressions_;
  Reductions reductions_;
  LaneLoops lane_loops_;
  std::vector<Row> rows_;
};

}  // namespace thunder::codegen
