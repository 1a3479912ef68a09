#include "device/cuda/staging.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace thunder::nvidia {

void Staging::close() {
  for (Block& b : blocks_) {
    if (b.read) driver_.event_destroy(std::exchange(b.read, nullptr));
    if (b.memory) driver_.deallocate_host(std::exchange(b.memory, nullptr));
  }
}

int Staging::open(Block& block) const {
  if (block.memory) return kSuccess;
  if (const int failed = driver_.event_create(&block.read, kEventWithoutTime)) return failed;
  const int failed = driver_.allocate_host(&block.memory, kBlockBytes, kPortableHostMemory);
  if (failed) driver_.event_destroy(std::exchange(block.read, nullptr)), block.memory = nullptr;
  return failed;
}

int Staging::copy_in(Pointer to, const void* from, size_t bytes, Stream stream) {
  std::lock_guard lock(mutex_);
  const auto* source = static_cast<const std::byte*>(from);
  for (size_t done = 0; done < bytes;) {
    Block& block = blocks_[next_];
    // Without pinned memory, the driver's own copy from pageable memory.
    if (open(block)) return driver_.copy_in(to + done, source + done, bytes - done, stream);
    if (block.in_use)
      if (const int failed = driver_.event_wait(block.read)) return failed;
    block.in_use = false;
    const size_t part = std::min(kBlockBytes, bytes - done);
    std::memcpy(block.memory, source + done, part);
    if (const int failed = driver_.copy_in(to + done, block.memory, part, stream)) return failed;
    if (const int failed = driver_.event_record(block.read, stream)) {
      driver_.stream_wait(stream);  // nobody could say when the block is free
      return failed;
    }
    block.in_use = true;
    done += part;
    next_ = (next_ + 1) % kBlocks;
  }
  return kSuccess;
}

}  // namespace thunder::nvidia
