// The axes of a nest in another order: what it computes stays the same. Targets make their schedules of these.
#pragma once

#include "loops/nest.h"

namespace thunder::loops {

// `order`: by new axis, the old one.
void reorder(Nest& nest, const std::vector<uint32_t>& order);

// Whether every map walks an axis and the next one as one, and nothing looks at either alone; makes one of them.
bool mergeable(const Nest& nest, uint32_t axis);
void merge(Nest& nest, uint32_t axis);
// All that are mergeable, outer with outer and inner with inner ones.
void merge_neighbours(Nest& nest);

// A first outer axis of one step, for a nest that has none.
void add_row(Nest& nest);

// The strides of the map that walks most: what the order of the loops follows.
const Map& main_map(const Nest& nest);

// Of each expression the axes and the level, and how many passes they take. Requires: outer and inner axes are told
// apart.
void find_passes(Nest& nest);

// What is stored once for a row is stored where the inner loops have ended, wherever they begin. Requires: find_passes.
void store_rows_behind(Nest& nest);

// All of it, for a target that asks no more: outer axes, then the reduced ones, each in the order in which most memory
// is walked, neighbours merged. All axes may be reduced: then none is outer.
void order_loops(Nest& nest, AxisSet reduced);

}  // namespace thunder::loops
