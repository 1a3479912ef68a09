// From lines to a loop nest.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executors/executor.h"
#include "executors/fusion/group.h"
#include "loops/cpu/nest.h"

namespace thunder::fusion {

// Of a nest in tiles: its parameters are copied for each.
constexpr size_t kMostParametersOfTiles = 64;

// An output that is summed over the outer axes: chunks of the outer range fill partial sums, which are then added up.
struct Partial {
  uint32_t argument; // of the nest: its outputs come after its inputs
  int64_t elements;  // of the output
  DType sum;         // element type of the partial sums
};

// What a picked index is checked against, by the number that the kernel reports.
struct Check {
  std::string op;
  int64_t dim = 0;
  int64_t size = 0;
};

struct Lowered {
  CpuNest nest;  // arguments: the node's inputs, then its outputs
  std::vector<Partial> partials;
  std::vector<Check> checks;  // by ExprId; only those of picks are filled
  bool in_tiles = false;      // what lower_tiles gives
};

// The nest of a region or of a single line. Requires: its lines form a group; node.inputs and node.outputs are there.
Lowered lower(const NodeView& node, const Machine& machine);

// The same with two axes, the rows and the columns of `input`, so that any part of them may be computed by itself. None where
// the lines need other loops, or more of an element than the elements that stand where it stands.
std::optional<Lowered> lower_tiles(const NodeView& node, const Machine& machine, size_t input);

}  // namespace thunder::fusion
