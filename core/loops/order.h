// Reorders and merges a nest's axes, which does not change what it computes. Targets make their schedules of these
// functions.
#pragma once

#include "loops/nest.h"

namespace thunder::loops {

// `order`: by new axis, the old one.
template <class S>
void reorder(NestOf<S>& nest, const std::vector<uint32_t>& order);

// Whether an axis and the next one can be merged: every map has strides as of a single axis, and no expression depends
// on either index alone.
template <class S>
bool can_merge_with_next(const NestOf<S>& nest, uint32_t axis);
template <class S>
void merge_with_next(NestOf<S>& nest, uint32_t axis);
// Merges all that are mergeable, outer with outer and inner with inner axes.
template <class S>
void merge_neighbours(NestOf<S>& nest);

// Adds an outer axis of extent 1 to a nest that has no outer axis.
template <class S>
void add_outer_axis(NestOf<S>& nest);

// The map that varies along most axes, whose strides decide the order of the loops.
template <class S>
const MapOf<S>& main_map(const NestOf<S>& nest);

// Sets axes and level of each expression, and the number of passes. Requires: outer and inner axes are known.
template <class S>
void count_passes(NestOf<S>& nest);

// Sinks stores of values that are constant along a row out of the row's inner loops. Requires: count_passes.
template <class S>
void sink_row_stores(NestOf<S>& nest);

// All of these, for a target that needs no other order: outer axes, then the reduced ones, each in memory order, with
// neighbours merged. If all axes are reduced, none is outer.
template <class S>
void order_loops(NestOf<S>& nest, AxisSet reduced);

}  // namespace thunder::loops
