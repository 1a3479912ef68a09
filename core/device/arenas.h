// Memory that programs work in while they run: those that do not run at the same time have the same.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "device/memory.h"

namespace thunder {

// The arenas of one device. Work is done in the order in which it was queued, so the next call may get an arena before
// the work of the last one is done. Any thread.
class Arenas {
 public:
  explicit Arenas(const Allocator& allocator) : allocator_(allocator) {}
  // The arenas of an allocator, shared by all that use it; they live as long as one of them does.
  static std::shared_ptr<Arenas> shared_for(const Allocator& allocator);

  // Notes that a program of this size was made, or destroyed: no more is kept than the largest one needs.
  void add(size_t bytes);
  void remove(size_t bytes) noexcept;

  // An arena of at least this many bytes: the smallest that is kept and large enough, or a new one that replaces one
  // that is too small. Throws Error(out_of_memory), or the error that lost the device.
  Ref<Storage> take(size_t bytes);
  void give_back(Ref<Storage> arena) noexcept;
  // Frees all that is kept.
  void trim() noexcept;
  size_t kept_bytes() const;

 private:
  const Allocator allocator_;
  mutable std::mutex mutex_;
  std::multiset<size_t> needs_;      // of the programs that there are
  std::vector<Ref<Storage>> kept_;   // smallest first
};

}  // namespace thunder
