// What a nest whose loops are in order does about the machine's caches.
#pragma once

#include "executors/fusion/nest.h"

namespace thunder::fusion {

// Marks what is dear and needed in more than one pass over rows that are short enough to be kept in between.
void keep_rows(Nest& nest);

// Marks the outputs of a scheduled nest that fill half of the last-level cache, which has so many bytes (0: unknown, none): they
// would not be kept until they are read, and a line that is written whole need not be read before.
void stream_large(Nest& nest, size_t cache);

// Takes short rows two at a time, a half of them away from each other, where each waits for sums along it, so that powers, quotients and the
// lanes' last steps overlap. Not where several rows of each come from beyond a part of the last-level cache (bytes; 0: unknown), nor
// where something is streamed: memory gives few streams faster. Not where columns are summed either. Requires: it is marked what is streamed.
void pair_rows(Nest& nest, size_t last_level);

// Marks what memory is asked for before it is needed, by what caches hold (bytes; 0: unknown, none): the next row, where a nest goes over
// its rows more than once and reads more than the second level, for memory would have nothing to do while the last passes find their row
// there; the next square, once it is marked what is streamed; the next row of a piece whose columns are summed, beyond the last level. Rows in
// pairs are two streams that go on, which memory gives without being asked.
void fetch_ahead(Nest& nest, size_t second_level, size_t last_level);

}  // namespace thunder::fusion
