// What a nest whose loops are in order does about the machine's caches: four of the stages of stages.cpp.
#pragma once

#include "base/machine.h"
#include "loops/cpu/nest.h"

namespace thunder::loops {

// Marks what is expensive and needed in more than one pass over rows that are short enough to be kept in between: in a quarter of
// the second level, and on the stack.
void keep_rows(CpuNest& nest, const Machine& machine);

// Marks the outputs that fill half of the last-level cache: they would be evicted before they are read, and a line that is
// written whole by non-temporal stores need not be read before. None where that cache is unknown.
void store_nontemporal(CpuNest& nest, const Machine& machine);

// Lets rows overlap that take more than one pass (CpuNest::pipelined), so that exponentials, quotients, memory and the last steps
// of sums are busy at the same time. Only while rows of all passes fit into the first level and everything into the last one, if
// that is known, and not where stores are non-temporal: memory gives few rows at a time faster. Requires: it is known what is
// kept and which stores are non-temporal.
void pipeline_rows(CpuNest& nest, const Machine& machine);

// Marks what is prefetched: the next row, where a nest takes several passes over its rows and reads more than the second level,
// for memory would have nothing to do while the last passes find their row there; the next tile, where stores are non-temporal;
// the next row of a piece whose columns are summed, beyond the last level. Rows that overlap follow each other without a pause.
// Requires: it is known which stores are non-temporal and whether rows overlap.
void prefetch(CpuNest& nest, const Machine& machine);

// Whether sums of columns are best made by rows as a whole, not by pieces of rows: they read parts of a row at the same time,
// which several pieces would all read, and one row of everything leaves half of the second level to others. No where that is
// unknown.
bool sums_whole_rows(const CpuNest& nest, const Machine& machine);

}  // namespace thunder::loops
