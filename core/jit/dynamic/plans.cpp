#include "jit/dynamic/plans.h"

#include <algorithm>

namespace thunder {

std::shared_ptr<const Entry> Plans::find(const Inputs& in) {
  return find([&](const Entry& plan) { return Cache::fits(plan, in); });
}

std::shared_ptr<const Entry> Plans::find(const std::function<bool(const Entry&)>& fits) {
  std::lock_guard lock(mutex_);
  for (auto it = plans_.begin(); it != plans_.end(); ++it) {
    if (!fits(**it)) continue;
    plans_.splice(plans_.begin(), plans_, it);
    rest_older_plan();
    return plans_.front();
  }
  return nullptr;
}

void Plans::rest_older_plan() {
  if (plans_.size() > kAwake) (*std::next(plans_.begin(), kAwake))->program->release_idle_memory();
}

void Plans::insert(std::shared_ptr<const Entry> entry) {
  std::lock_guard lock(mutex_);
  plans_.push_front(std::move(entry));
  rest_older_plan();
  size_t plans = 0, bytes = 0;
  const auto excess = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) {
    bytes += plan->program->peak_bytes();
    return ++plans > kMost || (plans > 1 && bytes > kMostBytes);
  });
  plans_.erase(excess, plans_.end());  // running calls keep theirs alive
}

size_t Plans::size() const {
  std::lock_guard lock(mutex_);
  return plans_.size();
}

std::vector<std::shared_ptr<const Entry>> Plans::all() const {
  std::lock_guard lock(mutex_);
  return {plans_.begin(), plans_.end()};
}

}  // namespace thunder
