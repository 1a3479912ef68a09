// Where in a kernel code is being made: a value that is handed on, and changed only in the copy that goes further inside.
#pragma once

#include <vector>

#include "loops/llvm/elementwise.h"
#include "loops/nest.h"

namespace thunder::codegen {

// Results are kept by expression where they stay known: for a row, for a position, for one gather. Null: not computed yet.
using Memo = std::vector<llvm::Value*>;

// x / y as x * scale * value; no scale: 1.
struct Reciprocal {
  llvm::Value *scale = nullptr, *value = nullptr;
};

// A reduction while it is made. `lanes`: a vector's place in the frame, which becomes a register.
struct Reduction {
  loops::ExprId id;
  llvm::Value* lanes;             // a partial result by lane; of argmax the greatest elements
  llvm::Value* nans = nullptr;    // of an extremum: the lanes that have met a NaN
  llvm::Value* places = nullptr;  // of argmax: where each lane's was found
};

// A sum that runs along the inner axis.
struct Scan {
  unsigned lanes = 0;                 // at a time
  llvm::Value* sum = nullptr;         // a vector's place: the sums at the position before
  std::vector<llvm::Value*> windows;  // there, sums over 1, 2, 4 .. numbers that end at each lane
};

// A row while it is walked. Of several that overlap one is in each pass.
struct Row {
  uint32_t pass = 0;
  std::vector<llvm::Value*> index;  // along the outer axes, of rows that overlap
  Memo known, position;             // for the row, and where the loops stand in it
  // By expression.
  std::vector<Reciprocal> reciprocals;  // of row values
  std::vector<bool> looked_below;       // in this pass
  std::vector<Scan> scans;
  Memo kept;                            // where its kept values lie
  // Of this pass.
  std::vector<loops::ExprId> reduced;
  std::vector<const loops::Output*> stores;
  std::vector<Reduction> reductions;
  // Of a pipeline, by expression: where the row finds, as it takes over, what the one that was in this pass before it had, or what
  // itself had in the pass before.
  Memo results, kept_places;
};

struct Cursor {
  std::vector<llvm::Value*> index;  // of each axis, i64; of the lane axis: lane 0's
  llvm::Value* mask = nullptr;      // which lanes count; null: all
  unsigned lanes = 0;               // elements of the lane axis at a time
  loops::AxisSet gathered = 0;      // axes whose index is given by a value, not by a loop
  Memo* gather = nullptr;           // of the gather that gives it
  Row* row = nullptr;
  Row* first_row = nullptr;         // of those that are walked: what is the same in all is computed once, for this one
  size_t interval = 0;              // between which cuts of the lane axis
  bool conditional = false;         // in code that runs at some positions only
  llvm::Value *lane_begin = nullptr, *lane_end = nullptr;    // of the piece
  llvm::Value *block_begin = nullptr, *block_end = nullptr;
  llvm::Value* tile = nullptr;      // where transposed tiles begin, while there are any

  uint32_t pass() const { return row->pass; }
};

}  // namespace thunder::codegen
