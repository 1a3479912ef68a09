// Reordering of a nest's axes, which does not change what it computes. Targets make their schedules of these.
#pragma once

#include "loops/nest.h"

namespace thunder::loops {

// `order`: by new axis, the old one.
void reorder(Nest& nest, const std::vector<uint32_t>& order);

// Whether every map walks an axis and the next one as a single axis, and no expression depends on either index alone;
// merges them.
bool mergeable(const Nest& nest, uint32_t axis);
void merge(Nest& nest, uint32_t axis);
// Merges all that are mergeable, outer with outer and inner with inner axes.
void merge_neighbours(Nest& nest);

// Adds an outermost axis of extent 1, for a nest that has no outer axis.
void add_row(Nest& nest);

// The map that walks most elements, which the order of loops follows.
const Map& main_map(const Nest& nest);

// Sets axes and level of each expression, and the number of passes. Requires: outer and inner axes are known.
void find_passes(Nest& nest);

// Stores what is constant along a row behind the row's inner loops. Requires: find_passes.
void store_rows_behind(Nest& nest);

// All of these, for a target that needs nothing else: outer axes, then the reduced ones, each in memory order, with
// neighbours merged. All axes may be reduced: then none is outer.
void order_loops(Nest& nest, AxisSet reduced);

}  // namespace thunder::loops
