// The stages of stages.cpp that depend on the machine's caches. They run when the order of the loops is known.
#pragma once

#include "base/machine.h"
#include "loops/cpu/nest.h"

namespace thunder::loops {

// Marks expressions whose values are kept in row buffers: those that are expensive and used in more than one pass over
// a row, if the buffers fit into a quarter of the L2 cache and on the stack.
template <class S>
void choose_kept_rows(CpuNestOf<S>& nest, const Machine& machine);

// Marks outputs for non-temporal stores: those that fill half of the last-level cache, which would be evicted before
// they are read. A cache line written whole by such stores is not read before. None if that cache's size is unknown.
template <class S>
void choose_nontemporal_stores(CpuNestOf<S>& nest, const Machine& machine);

// Software-pipelines rows that take more than one pass (CpuNest::software_pipelined), so that exponentials, divisions,
// memory accesses and the ends of reductions of different rows overlap. Only if rows of all passes fit into the L1
// cache and the whole operands into the last-level cache, if that is known, and without non-temporal stores: memory
// streams few rows at a time faster. Requires: kept values and non-temporal stores are decided.
template <class S>
void choose_software_pipeline(CpuNestOf<S>& nest, const Machine& machine);

// Marks loads for prefetching: the next row, if a nest takes several passes over its rows and reads more than the L2
// cache, since memory would be idle during the later passes; the next tile, with non-temporal stores; the next row of a
// strip whose columns are summed, if it comes from memory. Pipelined rows keep memory busy by themselves. Requires:
// non-temporal stores and pipelining are decided.
template <class S>
void choose_prefetches(CpuNestOf<S>& nest, const Machine& machine);

// Whether column sums are computed faster by whole rows than by strips of rows: if several strips would read the same
// elements of a row, and a row of all operands fits into half of the L2 cache. False if its size is unknown.
template <class S>
bool sums_whole_rows(const CpuNestOf<S>& nest, const Machine& machine);

}  // namespace thunder::loops
