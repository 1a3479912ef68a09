// What a nest whose loops are in order does about the machine's caches.
#pragma once

#include "base/machine.h"
#include "loops/cpu/nest.h"

namespace thunder::loops {

// Marks what is dear and needed in more than one pass over rows that are short enough to be kept in between: in a quarter of the
// second level, and on the stack.
void keep_rows(CpuNest& nest, const Machine& machine);

// Marks the outputs of a scheduled nest that fill half of the last-level cache: they would not be kept until they are read, and a
// line that is written whole need not be read before. None where that cache is unknown.
void stream_large(CpuNest& nest, const Machine& machine);

// Lets rows overlap that are gone over more than once (CpuNest::pipelined), so that powers, quotients, memory and the last steps of sums are
// busy at the same time. Only while rows of all passes fit into the first level and everything into the last one, if that is known,
// and not where something is streamed: memory gives few rows at a time faster. Requires: it is marked what is kept and what is streamed.
void pipeline_rows(CpuNest& nest, const Machine& machine);

// Whether sums of columns are best made by rows as a whole, not by pieces of rows: they read parts of a row at the same time, which
// several pieces would all read, and one row of everything leaves half of the second level to others. No where that is unknown.
bool sums_whole_rows(const CpuNest& nest, const Machine& machine);

// Marks what memory is asked for before it is needed: the next row, where a nest goes over its rows more than once and reads more than
// the second level, for memory would have nothing to do while the last passes find their row there; the next square, once it is marked
// what is streamed; the next row of a piece whose columns are summed, beyond the last level. Rows that overlap follow each other
// without a pause.
void fetch_ahead(CpuNest& nest, const Machine& machine);

// All but what is kept, in the order that they need.
void fit_caches(CpuNest& nest, const Machine& machine);

}  // namespace thunder::loops
