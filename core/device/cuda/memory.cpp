#include "device/cuda/memory.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "device/size_classes.h"

namespace thunder::nvidia {
namespace {

// The driver's own granularity; one block of it holds any scalar.
constexpr size_t kLeast = 512;

// Memory of a device is dear: of blocks larger than 1 MiB at most a sixty-fourth is unused; of those larger than 1 GiB,
// which arenas of training are, a five-hundredth.
struct Sizes {
  size_t above;
  int steps;
};
constexpr Sizes kSizes[] = {{0, kSizeSteps}, {size_t{1} << 20, 6}, {size_t{1} << 30, 9}};

// The number of the first class of each kind of sizes.
const std::array<size_t, std::size(kSizes)> kFirst = [] {
  std::array<size_t, std::size(kSizes)> first{};
  for (size_t i = 1; i < first.size(); i++)
    first[i] = first[i - 1] + size_class(kSizes[i].above, kSizes[i - 1].steps) + 1;
  return first;
}();

size_t class_of(size_t bytes) {
  bytes = std::max(bytes, kLeast);
  size_t kind = 0;
  while (kind + 1 < std::size(kSizes) && bytes > kSizes[kind + 1].above) kind++;
  return kFirst[kind] + size_class(bytes, kSizes[kind].steps);
}
size_t bytes_of(size_t class_number) {
  size_t kind = 0;
  while (kind + 1 < kFirst.size() && class_number >= kFirst[kind + 1]) kind++;
  return class_bytes(class_number - kFirst[kind], kSizes[kind].steps);
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
