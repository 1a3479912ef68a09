// What a nest whose loops are in order does about the machine's caches.
#pragma once

#include "executors/fusion/nest.h"

namespace thunder::fusion {

// Marks what is dear and needed in more than one pass over rows that are short enough to be kept in between.
void keep_rows(Nest& nest);

// Marks the outputs of a scheduled nest that fill half of the last-level cache, which has so many bytes (0: unknown, none): they
// would not be kept until they are read, and a line that is written whole need not be read before.
void stream_large(Nest& nest, size_t cache);

// Marks a scheduled nest that goes over its rows more than once and reads more than the second-level cache holds, which has so
// many bytes (0: unknown, none): while the last passes find their row there, memory would have nothing to do. And one that goes over
// squares, once it is marked what it streams.
void fetch_ahead(Nest& nest, size_t cache);

}  // namespace thunder::fusion
