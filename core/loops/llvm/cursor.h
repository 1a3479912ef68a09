// The position in a kernel's loops for which code is generated. It is passed by value, so that inner code changes a
// copy.
#pragma once

#include <vector>

#include "loops/llvm/elementwise.h"
#include "loops/nest.h"

namespace thunder::codegen {

// Memoized values by expression, valid for a row, a position, or a gather. Null: not computed yet.
using Memo = std::vector<llvm::Value*>;

// The state of a reduction. `lanes`: a vector in the frame, which mem2reg makes a register.
struct Reduction {
  loops::ExprId id;
  llvm::Value* lanes;  // partial results by lane; for argmax the maxima
  llvm::Value* nans = nullptr;  // for amax and amin: the lanes that have met a NaN
  llvm::Value* indices = nullptr;  // for argmax: the index of each lane's maximum
  llvm::Value* runs = nullptr;  // where sums are made in runs: the sums of those before this one
};

// The state of a scan along the inner axis.
struct Scan {
  unsigned lanes = 0;                 // at a time
  llvm::Value* sum = nullptr;  // a vector in the frame: the sums at the position before
  std::vector<llvm::Value*> windows;  // in the frame: sums over windows of 1, 2, 4 ... numbers that end at each lane
};

// A row in progress. With software pipelining there is one row in each pass.
struct Row {
  uint32_t pass = 0;
  std::vector<llvm::Value*> index;  // along the outer axes, of pipelined rows
  Memo known, position;  // for the row, and for the current position
  // By expression.
  std::vector<bool> visited;  // by evaluate_row_values, in this pass
  std::vector<Scan> scans;
  Memo kept;  // the addresses of kept values
  // The reductions of this pass.
  std::vector<loops::ExprId> reduced;
  std::vector<const loops::Output*> stores;
  std::vector<Reduction> reductions;
  // With software pipelining, by expression: variables that hold the row's results, and the addresses of its row
  // buffers, from the pass before until this pass begins.
  Memo results, kept_addresses;
};

struct Cursor {
  std::vector<llvm::Value*> index;  // of each axis, i64; of the lane axis: lane 0's
  llvm::Value* mask = nullptr;  // active lanes; null: all
  unsigned lanes = 0;               // elements of the lane axis at a time
  loops::AxisSet gathered = 0;  // axes whose index is a value, not a loop's
  Memo* gather = nullptr;  // the memo of the gather that gives that index
  Row* row = nullptr;
  Row* first_row = nullptr;  // of the pipelined rows: values that are the same for all are computed once, for this one
  size_t interval = 0;  // the interval of the lane axis, by cuts
  bool conditional = false;  // inside a branch: values are not available outside of it
  llvm::Value *lane_begin = nullptr, *lane_end = nullptr;    // of the strip
  llvm::Value *block_begin = nullptr, *block_end = nullptr;
  llvm::Value* tile = nullptr;  // the address of transposed tiles, inside a loop over them

  uint32_t pass() const { return row->pass; }
};

}  // namespace thunder::codegen
