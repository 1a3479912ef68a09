// Programs that are not kept for good: those that were used last.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cache/entry.h"

namespace thunder {

// The program used last is the first. What was not used for longest goes, by number and by what the programs keep
// between calls; all but a few have no memory for a call until the next one. An owner finds only what it inserted.
// Any thread.
class RecentPrograms {
 public:
  // The program of this owner and hash that fits, or null.
  std::shared_ptr<const Entry> find(const void* owner, uint64_t hash, const std::function<bool(const Entry&)>& fits);
  void insert(const void* owner, uint64_t hash, std::shared_ptr<const Entry> entry);
  void drop_all_of(const void* owner);
  std::vector<std::shared_ptr<const Entry>> all_of(const void* owner) const;

  static constexpr size_t kMost = 1024, kMostBytes = size_t{1} << 30, kAwake = 4;

 private:
  struct Kept {
    const void* owner;
    uint64_t hash;
    std::shared_ptr<const Entry> entry;
    size_t bytes;  // of its lines and constants
  };
  using Order = std::list<Kept>;
  // Called after a program came to the front.
  void rest_older_program();
  // Moves it to `gone`, which outlives the lock: a program may hold the last reference to functions with programs here.
  Order::iterator drop(Order::iterator at, Order& gone);

  mutable std::mutex mutex_;
  Order order_;
  std::unordered_multimap<uint64_t, Order::iterator> by_hash_;
  size_t bytes_ = 0;  // of all
};

}  // namespace thunder
