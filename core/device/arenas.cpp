#include "device/arenas.h"

#include <algorithm>
#include <map>

namespace thunder {
namespace {

bool is_less(const Ref<Storage>& arena, size_t bytes) { return arena->bytes() < bytes; }

}  // namespace

std::shared_ptr<Arenas> Arenas::shared_for(const Allocator& allocator) {
  using Key = std::pair<void*, void* (*)(size_t, size_t, void*)>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<Arenas>> all;
  std::lock_guard lock(mutex);
  std::erase_if(all, [](auto& one) { return one.second.expired(); });
  std::weak_ptr<Arenas>& known = all[{allocator.user, allocator.allocate}];
  std::shared_ptr<Arenas> arenas = known.lock();
  if (!arenas) known = arenas = std::make_shared<Arenas>(allocator);
  return arenas;
}

void Arenas::add(size_t bytes) {
  std::lock_guard lock(mutex_);
  needs_.insert(bytes);
}

void Arenas::remove(size_t bytes) noexcept {
  std::vector<Ref<Storage>> gone;  // what they free, they free without the lock
  std::lock_guard lock(mutex_);
  if (auto one = needs_.find(bytes); one != needs_.end()) needs_.erase(one);
  const size_t most = needs_.empty() ? 0 : *needs_.rbegin();
  if (!kept_.empty() && kept_.back()->bytes() > most) gone.swap(kept_);
}

Ref<Storage> Arenas::take(size_t bytes) {
  Ref<Storage> too_small;
  {
    std::lock_guard lock(mutex_);
    const auto found = std::lower_bound(kept_.begin(), kept_.end(), bytes, is_less);
    if (found != kept_.end()) {
      Ref<Storage> arena = std::move(*found);
      kept_.erase(found);
      return arena;
    }
    kept_.reserve(kept_.size() + 1);
    if (!kept_.empty()) too_small = std::move(kept_.back()), kept_.pop_back();
  }
  too_small = Ref<Storage>();  // first, so that the two never count together
  return Storage::allocate(allocator_, bytes);
}

void Arenas::give_back(Ref<Storage> arena) noexcept {
  std::lock_guard lock(mutex_);
  const size_t most = needs_.empty() ? 0 : *needs_.rbegin();
  if (arena->bytes() > most) return;
  try {
    kept_.insert(std::lower_bound(kept_.begin(), kept_.end(), arena->bytes(), is_less), arena);
  } catch (const std::bad_alloc&) {  // then it goes
  }
}

void Arenas::trim() noexcept {
  std::vector<Ref<Storage>> gone;
  std::lock_guard lock(mutex_);
  gone.swap(kept_);
}

size_t Arenas::kept_bytes() const {
  std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const Ref<Storage>& arena : kept_) sum += arena->bytes();
  return sum;
}

}  // namespace thunder
