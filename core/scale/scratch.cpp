#include "scale/scratch.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace thunder::scale {
namespace {

constexpr size_t kMostKept = size_t{192} << 20;  // a few buckets of gradients, with what adds them up

struct Block {
  size_t bytes;
  std::unique_ptr<std::byte[]> memory;
};

class Pool {
 public:
  Block take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    // Not for what needs much less.
    const auto fits = [&](const Block& b) { return b.bytes >= bytes && b.bytes / 2 <= bytes; };
    const auto it = std::find_if(kept_.begin(), kept_.end(), fits);
    if (it == kept_.end()) return {bytes, nullptr};
    Block found = std::move(*it);
    kept_.erase(it), kept_bytes_ -= found.bytes;
    return found;
  }
  void give_back(Block block) {
    const std::lock_guard lock(mutex_);
    kept_bytes_ += block.bytes;
    kept_.push_front(std::move(block));
    for (; kept_bytes_ > kMostKept; kept_.pop_back()) kept_bytes_ -= kept_.back().bytes;
  }

 private:
  std::mutex mutex_;
  std::deque<Block> kept_;  // the last one that was let go of is the first
  size_t kept_bytes_ = 0;
};

}  // namespace

std::shared_ptr<std::byte[]> scratch(size_t bytes) {
  static Pool* const pool = new Pool;  // collectives may outlive what ends with the process
  Block block = pool->take(bytes);
  if (!block.memory) block.memory = std::make_unique_for_overwrite<std::byte[]>(block.bytes);
  std::byte* const memory = block.memory.get();
  const auto held = std::make_shared<Block>(std::move(block));
  return {memory, [held](std::byte*) { pool->give_back(std::move(*held)); }};
}

}  // namespace thunder::scale
