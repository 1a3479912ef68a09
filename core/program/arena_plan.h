// Which bytes of a program's arena a value gets: best fit over the values' lifetimes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "base/checked.h"

namespace thunder {

// A best-fit allocator of offsets. It keeps the free ranges by offset, and grows the arena where none is large enough.
class ArenaPlan {
 public:
  int64_t allocate(int64_t bytes) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    if (best == free_.end()) {
      // Grow, from the last free range if it touches the end.
      int64_t at = top_;
      if (!free_.empty() && std::prev(free_.end())->first + std::prev(free_.end())->second == top_) {
        at = std::prev(free_.end())->first;
        free_.erase(std::prev(free_.end()));
      }
      top_ = checked_add(at, bytes);
      return at;
    }
    const int64_t at = best->first, left = best->second - bytes;
    free_.erase(best);
    if (left) free_[at + bytes] = left;
    return at;
  }
  void release(int64_t at, int64_t bytes) {
    auto next = free_.lower_bound(at);
    if (next != free_.end() && at + bytes == next->first) bytes += next->second, next = free_.erase(next);
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == at) return void(before->second += bytes);
    }
    free_[at] = bytes;
  }
  size_t top() const { return static_cast<size_t>(top_); }

 private:
  std::map<int64_t, int64_t> free_;
  int64_t top_ = 0;
};

}  // namespace thunder
