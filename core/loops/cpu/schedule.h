// The order of a nest's loops, for CPUs: the stages that stages.cpp begins with.
#pragma once

#include "loops/cpu/nest.h"
#include "loops/region.h"

namespace thunder::loops {

// Of a nest in tiles, at most: its parameters are copied for each.
constexpr size_t kMostParametersOfTiles = 64;

// In: axes in any order, all counted as outer, then those that only picks walk. Out: outer axes, inner ones, the lane
// last in its class, neighbours merged where every map walks them as one. `reduced`: the axes that the reductions reduce.
void order_rows(CpuNest& nest, AxisSet reduced);

// The same, as rows and columns of the argument that region.tiles names: one outer axis, and one inner axis made of its
// columns, which vectors run along. False, and the nest is spoilt: it reduces or sums, other axes are walked, or an element
// depends on others or on where it stands.
bool order_tiles(CpuNest& nest, const LoweredRegion& region);

// What lies side by side along another axis than the lanes' is read and written in tiles: a line of the cache is then used
// up while it is there, instead of being fetched for one element of it at a time. That axis becomes the innermost one.
void tile_transposed(CpuNest& nest);

// The passes over each row, and where what is known for a row is stored. Requires: it is decided which axes are inner.
void find_row_passes(CpuNest& nest);

}  // namespace thunder::loops
