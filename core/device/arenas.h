// Memory that programs work in while they run: those that do not run at the same time have the same.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "device/memory.h"

namespace thunder {

// Of one device, on which work is done in the order in which it was asked for: what a call gives back, the next one may
// have before the first one's work is done. Any thread.
class Arenas {
 public:
  explicit Arenas(const Allocator& allocator) : allocator_(allocator) {}
  // Those of everybody who has this allocator: they live as long as somebody has them.
  static std::shared_ptr<Arenas> of(const Allocator& allocator);

  // A program whose calls need so much is made, or is gone: no more is kept than one of those that are left needs.
  void add(size_t bytes);
  void remove(size_t bytes) noexcept;

  // At least so much: the smallest that is kept, or a new one in the place of what is kept and too small. Throws
  // Error(out_of_memory), or what lost the device.
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
