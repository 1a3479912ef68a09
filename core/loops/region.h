// A region as a target gets it: the nest that computes it, and what is to be done around the nest. Nothing in it says
// how it is run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/device.h"
#include "loops/nest.h"

namespace thunder::loops {

// An output that is summed over the outer axes: the nest stores it as OutputKind::column, and the target adds up
// whatever it computes apart from each other. Its element type among the nest's buffers is that of the sum, which the
// output's may be narrower than.
struct ColumnSum {
  uint32_t argument;  // of the nest: its outputs come after its inputs
  int64_t elements;   // of the output
  DType dtype;        // of the sum
};

// What the index of a gather is checked against.
struct BoundsCheck {
  std::string op;
  int64_t dim = 0;
  int64_t size = 0;
};

// Which part of a region may be computed by itself, if it can be: the one that stands at some rows and columns of an
// input.
struct TileAxes {
  uint32_t input;   // the argument
  AxisSet columns;  // axes of the nest that its last dim is made of
};

struct LoweredRegion {
  // Arguments: the line's inputs, then its outputs. Its axes are in any order and all counted as outer, followed by
  // those that only picks walk; levels and passes are not known yet: order.h finds them.
  Nest nest;
  AxisSet reduced = 0;              // the axes that its reductions reduce; they become the inner ones
  Device device = Device::cpu;      // of all its tensors
  std::vector<ColumnSum> sums;
  std::vector<BoundsCheck> checks;  // by ExprId; only those of picks are filled
  std::vector<bool> on_host;        // by argument: at most kHostScalarBytes on the CPU beside tensors on another device; empty: none
  std::optional<TileAxes> tiles;    // where the program would run it part by part
};

// What a run fails with where it found such an index. Owned.
Status* out_of_range(const std::vector<BoundsCheck>& checks, const Refusal& refusal);

}  // namespace thunder::loops
