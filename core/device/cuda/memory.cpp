#include "device/cuda/memory.h"

#include <algorithm>

#include "device/size_classes.h"

namespace thunder::nvidia {
namespace {

// The driver's own granularity; one block of it holds any scalar.
constexpr size_t kLeast = 512;

// Memory of a device is dear: of larger blocks at most a sixty-fourth is unused.
constexpr size_t kLarge = size_t{1} << 20;
constexpr int kLargeSteps = 6;
const size_t kFirstLarge = size_class(kLarge) + 1;

size_t class_of(size_t bytes) {
  return bytes > kLarge ? kFirstLarge + size_class(bytes, kLargeSteps) : size_class(std::max(bytes, kLeast));
}
size_t bytes_of(size_t class_number) {
  return class_number < kFirstLarge ? class_bytes(class_number) : class_bytes(class_number - kFirstLarge, kLargeSteps);
}

}  // namespace

Pointer MemoryPool::allocate(size_t bytes, int& failed) {
  failed = kOutOfMemory;
  if (bytes > kLargestKept) return 0;
  const size_t at = class_of(bytes), rounded = bytes_of(at);
  std::lock_guard lock(mutex_);
  Pointer block = 0;
  if (at < free_.size() && !free_[at].empty()) {
    block = free_[at].back();
    free_[at].pop_back();
    counts_.kept -= rounded;
    counts_.hits++;
    failed = kSuccess;
  } else {
    try {
      if (at >= free_.size()) free_.resize(at + 1);
      free_[at].reserve(free_[at].size() + 1);  // its return must not fail
    } catch (const std::bad_alloc&) {
      return 0;
    }
    failed = driver_.allocate(&block, rounded);
    if (failed == kOutOfMemory && counts_.kept) {
      give_back_kept();
      counts_.retries++;
      failed = driver_.allocate(&block, rounded);
    }
    if (failed) return 0;
    counts_.misses++;
  }
  counts_.take(rounded);
  return block;
}

void MemoryPool::deallocate(Pointer block, size_t bytes) {
  const size_t at = class_of(bytes), rounded = bytes_of(at);
  std::lock_guard lock(mutex_);
  counts_.used -= rounded;
  try {
    free_[at].push_back(block);
    counts_.kept += rounded;
  } catch (const std::bad_alloc&) {
    driver_.deallocate(block);
  }
}

// Requires: the lock is held.
void MemoryPool::give_back_kept() {
  for (auto& blocks : free_) {
    for (Pointer block : blocks) driver_.deallocate(block);
    blocks.clear();
  }
  counts_.kept = 0;
}

void MemoryPool::trim() {
  std::lock_guard lock(mutex_);
  give_back_kept();
}

MemoryStatistics MemoryPool::statistics() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void MemoryPool::reset_peaks() {
  std::lock_guard lock(mutex_);
  counts_.reset_peaks();
}

}  // namespace thunder::nvidia
