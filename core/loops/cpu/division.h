// How a nest is divided into work items, and these among threads. It depends on the nest's sizes and the machine's
// caches only, so that sums are added up in the same order on any number of threads.
#pragma once

#include <vector>

#include "base/machine.h"
#include "loops/cpu/nest.h"
#include "loops/region.h"

namespace thunder::loops {

// Elements of the lane axis in a work item, if the axis is split and no rule of division.cpp gives another length.
constexpr int64_t kStrip = 4096;
// The largest number of chunks of the outer range, each of which has column sums of its own.
constexpr int64_t kChunks = 32;

struct Division {
  // The last two parameters of a kernel.
  int64_t strip = 0;  // elements of the lane axis
  int64_t block = 0;  // of the block axis, if there is one
  int64_t items = 0;  // work items; 0: not divided yet
  int64_t grain = 1;  // the least number of items that are worth waking a thread
  int64_t chunks = 0;  // of the items, if columns are summed
};

// `sums`: the column sums, of which each chunk has its own. Requires: non-temporal stores are decided.
Division divide_work(const CpuNest& nest, const std::vector<ColumnSum>& sums, const Machine& machine);

// The number of chunks of a nest with column sums that iterates over so many elements in so many items.
int64_t choose_chunk_count(const std::vector<ColumnSum>& sums, int64_t elements, int64_t items);

}  // namespace thunder::loops
