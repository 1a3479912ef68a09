// The order of a nest's loops, for CPUs: the first stages of stages.cpp.
#pragma once

#include "loops/cpu/nest.h"
#include "loops/region.h"

namespace thunder::loops {

// The most parameters of a nest ordered for tiles: they are copied for each tile.
constexpr size_t kMaxTileParameters = 64;

// Orders a nest's axes. Before, they are in any order and all counted as outer, followed by those that only gathers
// index. Afterwards outer axes come first, then inner ones, the lane axis is the last one of its class, and neighbours
// are merged where every map allows it. `reduced`: the axes that reductions reduce.
template <class S>
void order_rows(CpuNestOf<S>& nest, AxisSet reduced);

// Orders a nest's axes as rows and columns of the argument that region.tiles names: one outer axis, and one inner axis
// of its columns, which is vectorized. False, and the nest must not be used any more: it has reductions or column sums,
// it has other axes, or elements depend on others or on their index.
template <class S>
bool order_tiles(CpuNestOf<S>& nest, const LoweredRegionOf<S>& region);

// Tiles accesses to transposed operands, which are contiguous along another axis than the lane axis: all elements of a
// cache line are used while it is in the cache, rather than fetching it once for each of them. That axis becomes the
// innermost one.
template <class S>
void tile_transposed(CpuNestOf<S>& nest);

// Finds the passes over each row, and where values of a row are stored. Requires: inner axes are decided.
template <class S>
void find_row_passes(CpuNestOf<S>& nest);

}  // namespace thunder::loops
