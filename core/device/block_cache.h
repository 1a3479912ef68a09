// Keeps blocks of memory that were given back, for whoever wants their size next: the results of a call in a loop then
// cost neither the system's allocator nor fresh pages.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "device/memory.h"
#include "device/memory_statistics.h"

namespace thunder {

class BlockCache {
 public:
  static constexpr size_t kDefaultLimit = size_t{1} << 30;

  // Over one of the library's allocators. It lives until close() was called and the last block returned.
  static BlockCache* open(const Allocator& under, size_t limit);
  void close();

  Allocator allocator();
  // The largest number of bytes that are kept; 0: none. Bytes beyond it are freed at once.
  void set_limit(size_t bytes);
  size_t limit() const;
  // Statistics of blocks that are not small.
  MemoryStatistics statistics() const;
  void reset_peaks();
  // Returns all that is kept to the underlying allocator.
  void trim();

 private:
  struct Free {
    Free* next;
  };
  BlockCache(const Allocator& under, size_t limit) : under_(under), limit_(limit) {}
  ~BlockCache() = default;
  void* allocate(size_t bytes);
  void deallocate(void* block, size_t bytes);
  void forget();
  void drop_user(std::unique_lock<std::mutex>& lock);

  const Allocator under_;
  mutable std::mutex mutex_;
  std::vector<Free*> free_;  // by size class
  MemoryStatistics counts_;
  size_t limit_;
  size_t users_ = 1;  // whoever opened it, and the blocks that are out
};

}  // namespace thunder
