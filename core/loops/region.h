// A lowered region, which fusion hands to a target: the nest that computes it, and what the target does besides. It
// does not say how the nest is run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/device.h"
#include "loops/nest.h"

namespace thunder::loops {

// An output that is summed over the outer axes: the nest stores it as OutputKind::column, and the target adds up the
// partial sums. Its element type among the nest's buffers is the accumulator's, which may be wider than the output's.
template <class S>
struct ColumnSumOf {
  uint32_t argument;  // of the nest, whose outputs come after its inputs
  S elements;         // of the output
  DType dtype;  // of the accumulator
};
using ColumnSum = ColumnSumOf<int64_t>;

// The range that the index of a gather is checked against, or that a divisor must not be zero.
template <class S>
struct BoundsCheckOf {
  std::string op;  // empty: a division of integers
  int64_t dim = 0;
  S size{};
};
using BoundsCheck = BoundsCheckOf<int64_t>;

// How a region is divided into tiles of an input, so that a tile can be computed alone.
struct TileAxes {
  uint32_t input;  // the argument
  AxisSet columns;  // the axes of the nest that its last dim consists of
};

template <class S>
struct LoweredRegionOf {
  // Arguments: the node's inputs, then its outputs. Axes are in any order and all counted as outer, followed by those
  // that only gathers index. Levels and passes are found later, by order.h.
  NestOf<S> nest;
  AxisSet reduced = 0;  // the axes that reductions reduce; they become the inner ones
  Device device = Device::cpu;      // of all its tensors
  std::vector<ColumnSumOf<S>> sums;
  std::vector<BoundsCheckOf<S>> checks;  // by ExprId; used where may_fail
  // By argument: whether it has at most kHostScalarBytes on the CPU while the others are on another device. Empty:
  // none.
  std::vector<bool> on_host;
  std::optional<TileAxes> tiles;  // set if the program wants to run it as an epilogue
};
using LoweredRegion = LoweredRegionOf<int64_t>;

// A copy with sizes of another type. `f`: the new one of a size.
template <class To, class S, class F>
LoweredRegionOf<To> with_sizes(const LoweredRegionOf<S>& from, const F& f) {
  LoweredRegionOf<To> to;
  copy_with_sizes(from.nest, to.nest, f);
  to.reduced = from.reduced, to.device = from.device, to.on_host = from.on_host, to.tiles = from.tiles;
  for (const ColumnSumOf<S>& s : from.sums) to.sums.push_back({s.argument, f(s.elements), s.dtype});
  for (const BoundsCheckOf<S>& c : from.checks) to.checks.push_back({c.op, c.dim, f(c.size)});
  return to;
}

// The error of a run that reported such an index, or division. Owned.
Status* index_error_status(const std::vector<BoundsCheck>& checks, const IndexError& index_error);

}  // namespace thunder::loops
