// Reorders and merges a nest's axes, which does not change what it computes. Targets make their schedules of these
// functions.
#pragma once

#include "loops/nest.h"

namespace thunder::loops {

// `order`: by new axis, the old one.
void reorder(Nest& nest, const std::vector<uint32_t>& order);

// Whether an axis and the next one can be merged: every map has strides as of a single axis, and no expression depends
// on either index alone.
bool can_merge_with_next(const Nest& nest, uint32_t axis);
void merge_with_next(Nest& nest, uint32_t axis);
// Merges all that are mergeable, outer with outer and inner with inner axes.
void merge_neighbours(Nest& nest);

// Adds an outer axis of extent 1 to a nest that has no outer axis.
void add_outer_axis(Nest& nest);

// The map that varies along most axes, whose strides decide the order of the loops.
const Map& main_map(const Nest& nest);

// Sets axes and level of each expression, and the number of passes. Requires: outer and inner axes are known.
void count_passes(Nest& nest);

// Sinks stores of values that are constant along a row out of the row's inner loops. Requires: count_passes.
void sink_row_stores(Nest& nest);

// All of these, for a target that needs no other order: outer axes, then the reduced ones, each in memory order, with
// neighbours merged. If all axes are reduced, none is outer.
void order_loops(Nest& nest, AxisSet reduced);

}  // namespace thunder::loops
