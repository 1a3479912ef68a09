#include "modules/generation.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"

namespace thunder {

void Generation::collect_parents(std::vector<Pointer>& into) const {
  std::lock_guard lock(mutex_);
  for (auto& above : parents_)
    if (Pointer parent = above.generation.lock()) into.push_back(std::move(parent));
}

std::vector<Generation::Pointer> Generation::collect_with_ancestors(std::span<const Pointer> changed) {
  std::vector<Pointer> all, pending(changed.begin(), changed.end());
  std::unordered_set<const Generation*> done;
  while (!pending.empty()) {
    Pointer one = std::move(pending.back());
    pending.pop_back();
    if (!done.insert(one.get()).second) continue;
    one->collect_parents(pending);
    all.push_back(std::move(one));
  }
  return all;
}

void Generation::bump(std::span<const Pointer> generations) noexcept {
  for (const Pointer& one : generations) one->value_.fetch_add(1, std::memory_order_acq_rel);
}

void Generation::attach(const Pointer& parent, std::string_view name) {
  Parent fresh{parent, std::string(name)};
  std::lock_guard lock(mutex_);
  std::erase_if(parents_, [](auto& above) { return above.generation.expired(); });
  parents_.push_back(std::move(fresh));
}

void Generation::detach(const Pointer& parent, std::string_view name) noexcept {
  std::lock_guard lock(mutex_);
  auto it = std::find_if(parents_.begin(), parents_.end(),
                         [&](auto& above) { return above.name == name && above.generation.lock() == parent; });
  if (it != parents_.end()) parents_.erase(it);
}

std::string Generation::path() const {
  std::string path;
  Pointer at;  // keeps the one that is looked at
  for (const Generation* below = this; below; below = at.get()) {
    Pointer above;
    {
      std::lock_guard lock(below->mutex_);
      for (auto& parent : below->parents_) {
        if (!(above = parent.generation.lock())) continue;
        path = path.empty() ? parent.name : cat(parent.name, ".", path);
        break;
      }
    }
    at = std::move(above);
  }
  return path;
}

size_t Generation::levels_above() const {
  std::vector<Pointer> level;
  collect_parents(level);
  size_t levels = 0;
  for (; !level.empty(); levels++) {
    std::sort(level.begin(), level.end());
    level.erase(std::unique(level.begin(), level.end()), level.end());
    std::vector<Pointer> next;
    for (auto& one : level) one->collect_parents(next);
    level = std::move(next);
  }
  return levels;
}

}  // namespace thunder
