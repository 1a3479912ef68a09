// Programs beyond those that a cache keeps for good.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "cache/cache.h"

namespace thunder {

// The program used last is the first. What is least used goes, by number and by memory; all but a few have no memory
// for a call until the next one.
class Plans {
 public:
  // The program compiled for these inputs, or null. Any thread.
  std::shared_ptr<const Entry> find(const Inputs& in);
  // The first that `fits` says fits.
  std::shared_ptr<const Entry> find(const std::function<bool(const Entry&)>& fits);
  void insert(std::shared_ptr<const Entry> entry);
  size_t size() const;
  std::vector<std::shared_ptr<const Entry>> all() const;

  static constexpr size_t kMost = 64, kMostBytes = size_t{1} << 30, kAwake = 4;

 private:
  // Called after a plan moved to the front.
  void rest_older_plan();
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const Entry>> plans_;
};

}  // namespace thunder
