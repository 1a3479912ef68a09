#include "cache/recent_programs.h"

#include <algorithm>

namespace thunder {
namespace {

// What the program keeps while no call runs.
size_t kept_bytes(const Entry& entry) {
  size_t bytes = entry.program->constant_bytes() + entry.program->plan_bytes();
  const Store* last = nullptr;
  for (const Trace& t : entry.traces.made())  // those of one compile share a store, or a few
    if (t.store.get() != last) last = t.store.get(), bytes += last->bytes();
  return bytes;
}

}  // namespace

std::shared_ptr<const Entry> RecentPrograms::find(const void* owner, uint64_t hash,
                                                  const std::function<bool(const Entry&)>& fits) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Order::iterator found = it->second;
    if (found->owner != owner || !fits(*found->entry)) continue;
    order_.splice(order_.begin(), order_, found);
    rest_older_program();
    return found->entry;
  }
  return nullptr;
}

void RecentPrograms::rest_older_program() {
  if (order_.size() > kAwake) std::next(order_.begin(), kAwake)->entry->program->release_idle_memory();
}

void RecentPrograms::insert(const void* owner, uint64_t hash, std::shared_ptr<const Entry> entry) {
  Order gone;
  const std::lock_guard lock(mutex_);
  const size_t bytes = kept_bytes(*entry);
  order_.push_front({owner, hash, std::move(entry), bytes});
  by_hash_.emplace(hash, order_.begin());
  bytes_ += bytes;
  rest_older_program();
  while (order_.size() > kMost || (order_.size() > 1 && bytes_ > kMostBytes)) drop(std::prev(order_.end()), gone);
}

// A call that runs it keeps it alive.
RecentPrograms::Order::iterator RecentPrograms::drop(Order::iterator at, Order& gone) {
  const auto [first, last] = by_hash_.equal_range(at->hash);
  by_hash_.erase(std::find_if(first, last, [&](auto& place) { return place.second == at; }));
  bytes_ -= at->bytes;
  const auto next = std::next(at);
  gone.splice(gone.end(), order_, at);
  return next;
}

void RecentPrograms::drop_all_of(const void* owner) {
  Order gone;
  const std::lock_guard lock(mutex_);
  for (auto it = order_.begin(); it != order_.end();) it = it->owner == owner ? drop(it, gone) : std::next(it);
}

std::vector<std::shared_ptr<const Entry>> RecentPrograms::all_of(const void* owner) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Entry>> out;
  for (const Kept& kept : order_)
    if (kept.owner == owner) out.push_back(kept.entry);
  return out;
}

}  // namespace thunder
