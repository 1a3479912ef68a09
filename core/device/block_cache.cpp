#include "device/block_cache.h"

#include "device/size_classes.h"

namespace thunder {
namespace {

bool kept(size_t bytes) { return bytes >= kSmallBlock && bytes <= kLargestKept; }

}  // namespace

BlockCache* BlockCache::open(const Allocator& under, size_t limit) { return new BlockCache(under, limit); }

Allocator BlockCache::allocator() {
  // A small block does not keep the cache alive, so returning one must not touch the cache.
  return {[](size_t bytes, size_t align, void* self) {
            return kept(bytes) ? static_cast<BlockCache*>(self)->allocate(bytes) : allocate_aligned(bytes, align);
          },
          [](void* block, size_t bytes, size_t, void* self) {
            return kept(bytes) ? static_cast<BlockCache*>(self)->deallocate(block, bytes) : deallocate_aligned(block);
          },
          this, true};
}

void* BlockCache::allocate(size_t bytes) {
  const size_t size_class = thunder::size_class(bytes), rounded = class_bytes(size_class);
  std::unique_lock lock(mutex_);
  Free* block = size_class < free_.size() ? free_[size_class] : nullptr;
  if (block) {
    free_[size_class] = block->next;
    counts_.kept -= rounded;
    counts_.hits++;
  } else {
    // Room for its return, which must not fail.
    if (size_class >= free_.size()) {
      try {
        free_.resize(size_class + 1);
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }
    void* fresh = under_.allocate(rounded, kAlign, under_.user);
    if (!fresh && counts_.kept) {
      forget();
      counts_.retries++;
      fresh = under_.allocate(rounded, kAlign, under_.user);
    }
    if (!fresh) return nullptr;
    block = static_cast<Free*>(fresh);
    counts_.misses++;
  }
  counts_.take(rounded);
  users_++;
  return block;
}

void BlockCache::deallocate(void* memory, size_t bytes) {
  const size_t size_class = thunder::size_class(bytes), rounded = class_bytes(size_class);
  std::unique_lock lock(mutex_);
  counts_.used -= rounded;
  // Full: the sizes of now are worth more than those of some time ago.
  if (counts_.kept + rounded > limit_) forget();
  if (counts_.kept + rounded > limit_) {
    under_.deallocate(memory, rounded, kAlign, under_.user);
  } else {
    free_[size_class] = new (memory) Free{free_[size_class]};
    counts_.kept += rounded;
  }
  drop_user(lock);
}

// Requires: the lock is held.
void BlockCache::forget() {
  for (size_t size_class = 0; size_class < free_.size(); size_class++)
    while (Free* block = free_[size_class]) {
      free_[size_class] = block->next;
      under_.deallocate(block, class_bytes(size_class), kAlign, under_.user);
    }
  counts_.kept = 0;
}

void BlockCache::drop_user(std::unique_lock<std::mutex>& lock) {
  const bool last = --users_ == 0;
  lock.unlock();
  if (last) delete this;
}

void BlockCache::close() {
  std::unique_lock lock(mutex_);
  forget();
  limit_ = 0;  // what comes back later goes on
  drop_user(lock);
}

void BlockCache::set_limit(size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  if (counts_.kept > bytes) forget();
}

void BlockCache::trim() {
  std::lock_guard lock(mutex_);
  forget();
}

size_t BlockCache::limit() const {
  std::lock_guard lock(mutex_);
  return limit_;
}

MemoryStatistics BlockCache::statistics() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void BlockCache::reset_peaks() {
  std::lock_guard lock(mutex_);
  counts_.reset_peaks();
}

}  // namespace thunder
