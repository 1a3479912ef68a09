// The counters of a cache of blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace thunder {

// Statistics of the blocks that a cache hands out, in bytes; a block counts with the bytes that were reserved for it.
struct MemoryStatistics {
  size_t used = 0, kept = 0;                   // handed out; given back and kept for reuse
  size_t most_used = 0, most_reserved = 0;     // since the last reset; reserved: used and kept
  uint64_t hits = 0, misses = 0, retries = 0;  // retries: what was kept had to go back before there was room

  void take(size_t bytes) {
    used += bytes;
    most_used = std::max(most_used, used), most_reserved = std::max(most_reserved, used + kept);
  }
  void reset_peaks() { most_used = used, most_reserved = used + kept; }
};

}  // namespace thunder
