// The order of a nest's loops, for CPUs: the first stages of stages.cpp.
#pragma once

#include "loops/cpu/nest.h"
#include "loops/region.h"

namespace thunder::loops {

// The most parameters of a nest ordered for tiles: they are copied for each tile.
constexpr size_t kMostParametersOfTiles = 64;

// In: axes in any order, all counted as outer, then those that only gathers walk. Out: outer axes, inner ones, the lane
// axis last in its class, neighbours merged where every map walks them as one. `reduced`: the axes that reductions
// reduce.
void order_rows(CpuNest& nest, AxisSet reduced);

// The same as rows and columns of the argument that region.tiles names: one outer axis, and one inner axis of its
// columns, which is vectorized. False, and the nest must not be used any more: it has reductions or column sums, walks
// other axes, or elements depend on others or on their index.
bool order_tiles(CpuNest& nest, const LoweredRegion& region);

// Tiling for transposed operands: accesses that are contiguous along another axis than the lane axis are done in tiles,
// so that each cache line is used while it is there, rather than fetched once for each of its elements. That axis
// becomes the innermost one.
void tile_transposed(CpuNest& nest);

// Finds the passes over each row, and where values of a row are stored. Requires: inner axes are decided.
void find_row_passes(CpuNest& nest);

}  // namespace thunder::loops
