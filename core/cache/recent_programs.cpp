#include "cache/recent_programs.h"

#include <algorithm>

namespace thunder {
namespace {

// What the program keeps while no call runs.
size_t kept_bytes(const Entry& entry) {
  size_t bytes = entry.program->constant_bytes();
  const Store* last = nullptr;
  for (const Trace& t : entry.traces.made())  // those of one compile share a store, or a few
    if (t.store.get() != last) last = t.store.get(), bytes += last->bytes();
  return bytes;
}

}  // namespace

std::shared_ptr<const Entry> RecentPrograms::find(uint64_t hash, const std::function<bool(const Entry&)>& fits) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Order::iterator found = it->second;
    if (!fits(*found->entry)) continue;
    order_.splice(order_.begin(), order_, found);
    rest_older_program();
    return found->entry;
  }
  return nullptr;
}

void RecentPrograms::rest_older_program() {
  if (order_.size() > kAwake) std::next(order_.begin(), kAwake)->entry->program->release_idle_memory();
}

void RecentPrograms::insert(uint64_t hash, std::shared_ptr<const Entry> entry) {
  const std::lock_guard lock(mutex_);
  const size_t bytes = kept_bytes(*entry);
  order_.push_front({hash, std::move(entry), bytes});
  by_hash_.emplace(hash, order_.begin());
  bytes_ += bytes;
  rest_older_program();
  while (order_.size() > kMost || (order_.size() > 1 && bytes_ > kMostBytes)) drop_oldest();
}

// A call that runs it keeps it alive.
void RecentPrograms::drop_oldest() {
  const auto oldest = std::prev(order_.end());
  const auto [first, last] = by_hash_.equal_range(oldest->hash);
  by_hash_.erase(std::find_if(first, last, [&](auto& place) { return place.second == oldest; }));
  bytes_ -= oldest->bytes;
  order_.erase(oldest);
}

size_t RecentPrograms::size() const {
  const std::lock_guard lock(mutex_);
  return order_.size();
}

std::vector<std::shared_ptr<const Entry>> RecentPrograms::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Entry>> out;
  for (const Kept& kept : order_) out.push_back(kept.entry);
  return out;
}

}  // namespace thunder
