// Programs that are not kept for good: those that were used last.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cache/cache.h"

namespace thunder {

// The program used last is the first. What was not used for longest goes, by number and by what the programs keep
// between calls; all but a few have no memory for a call until the next one. Any thread.
class RecentPrograms {
 public:
  // The program for these inputs, or null.
  std::shared_ptr<const Entry> find(const Inputs& in) {
    return find(hash_of(in), [&](const Entry& e) { return Cache::fits(e, in); });
  }
  void insert(const Inputs& in, std::shared_ptr<const Entry> entry) { insert(hash_of(in), std::move(entry)); }
  // The same for programs that are told apart by more than inputs: those of one hash are asked whether they fit.
  std::shared_ptr<const Entry> find(uint64_t hash, const std::function<bool(const Entry&)>& fits);
  void insert(uint64_t hash, std::shared_ptr<const Entry> entry);
  size_t size() const;
  std::vector<std::shared_ptr<const Entry>> all() const;

  static constexpr size_t kMost = 1024, kMostBytes = size_t{1} << 30, kAwake = 4;

 private:
  struct Kept {
    uint64_t hash;
    std::shared_ptr<const Entry> entry;
    size_t bytes;  // of its lines and constants
  };
  using Order = std::list<Kept>;
  // Called after a program came to the front.
  void rest_older_program();
  void drop_oldest();

  mutable std::mutex mutex_;
  Order order_;
  std::unordered_multimap<uint64_t, Order::iterator> by_hash_;
  size_t bytes_ = 0;  // of all
};

}  // namespace thunder
