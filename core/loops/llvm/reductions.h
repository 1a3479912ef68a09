// Emits reductions of a row: each lane reduces in the loop over positions, and after it the lanes are reduced.
//
// Needs the kernel, the expressions and a cursor. argmax.cpp has argmax, whose state is two numbers for each lane.
#pragma once

#include <utility>

#include "loops/llvm/expressions.h"

namespace thunder::codegen {

class Reductions {
 public:
  Reductions(Kernel& kernel, Expressions& expressions)
      : k_(kernel), b_(kernel.b), nest_(kernel.nest), expressions_(expressions) {}

  Reduction begin(const Cursor& at, ExprId id);
  // Accumulates the vector at the cursor.
  void step(const Cursor& at, const Reduction& r);
  // Ends a run of a sum, if it is made in runs.
  void end_run(const Cursor& at, const Reduction& r);
  // Reduces the lanes; the result is a value of the row.
  void end(const Cursor& at, const Reduction& r);

 private:
  unsigned count_nan_flags(const Cursor& at) const;
  llvm::Value* nans_of(const Cursor& at, llvm::Value* v);
  llvm::Value* extremum(Fn fn, llvm::Value* a, llvm::Value* b);
  template <class Join>
  llvm::Value* reduce_lanes(llvm::Value* v, unsigned lanes, const Join& join);
  std::pair<llvm::Value*, llvm::Value*> halves(llvm::Value* v, unsigned lanes);

  // argmax.cpp
  Reduction begin_argmax(const Cursor& at, ExprId id);
  void step_argmax(const Cursor& at, const Reduction& r);
  void end_argmax(const Cursor& at, const Reduction& r);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  Expressions& expressions_;
};

}  // namespace thunder::codegen
