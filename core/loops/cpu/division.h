// How a nest is cut into work items, and these among threads: by the nest's sizes and the machine's caches alone, so that the same
// items are computed, and added up in the same order, on any number of threads.
#pragma once

#include <vector>

#include "base/machine.h"
#include "loops/cpu/nest.h"
#include "loops/region.h"

namespace thunder::loops {

// Elements of the lane axis in a work item, where it is split and nothing else asks for more or fewer.
constexpr int64_t kPiece = 4096;
// Of the outer range, each with column sums of its own: at most.
constexpr int64_t kChunks = 32;

struct Division {
  // The last two parameters of a kernel.
  int64_t piece = 0;  // elements of the lane axis
  int64_t block = 0;  // of the block axis, if there is one
  int64_t items = 0;   // work items; 0: it is not divided yet
  int64_t grain = 1;   // items that a thread is woken for
  int64_t chunks = 0;  // of the items, where columns are summed
};

// `sums`: of columns, of which each chunk has its own. Requires: it is known which stores are non-temporal.
Division divide(const CpuNest& nest, const std::vector<ColumnSum>& sums, const Machine& machine);

// In how many chunks a nest is summed that walks so many elements in so many items.
int64_t chunks_of(const std::vector<ColumnSum>& sums, int64_t elements, int64_t items);

}  // namespace thunder::loops
