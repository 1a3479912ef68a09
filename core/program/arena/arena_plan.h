// Which bytes of a program's arena a value gets, by the values' lifetimes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace thunder {

// Bytes of an arena that a value has from one time to another, both included.
struct ArenaRequest {
  int64_t bytes;
  size_t first, last;
  int64_t offset = 0;
};

// Both place requests, which are ordered by `first`, and return the bytes that the arena then needs.
//
// Best fit in the order of time, as an allocator does it at run time: what is placed next gets memory that was in use a
// moment ago, which a CPU's caches still hold.
size_t place_in_order(std::span<ArenaRequest> requests);
// The same, or the largest requests first, each into the smallest gap that the placed ones leave for it: whichever
// needs fewer bytes. It does not consider the caches, and its time is quadratic in the number of requests.
size_t place_tightly(std::span<ArenaRequest> requests);
// The most bytes that are in use at one time: no placement needs less.
size_t max_bytes_in_use(std::span<const ArenaRequest> requests);

}  // namespace thunder
