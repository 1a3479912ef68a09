#include "executors/cuda/cudnn/plans.h"

#include <chrono>
#include <utility>

#include "executors/cuda/cudnn/plan.h"

namespace thunder::cudnn {

std::shared_ptr<Plans::Pending> Plans::find_or_begin(const std::string& key, const Make& make) {
  std::lock_guard lock(mutex_);
  if (const auto found = plans_.find(key); found != plans_.end()) {
    order_.splice(order_.begin(), order_, found->second.place);
    return found->second.pending;
  }
  auto pending = std::make_shared<Pending>();
  pending->key = key;
  // The task holds `pending` weakly, since `pending` holds the task. If `pending` was released, there is nothing to do.
  pending->work = threads_.begin([to = std::weak_ptr<Pending>(pending), make] {
    const std::shared_ptr<Pending> wanted = to.lock();
    if (!wanted) return;
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    wanted->plan = make();
    wanted->ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  });
  order_.push_front(key);
  plans_[key] = {pending, order_.begin()};
  if (plans_.size() > kMostPlans) plans_.erase(order_.back()), order_.pop_back();
  return pending;
}

std::shared_ptr<const Plan> Plans::wait(const std::shared_ptr<Pending>& pending, double& ms) {
  try {
    threads_.wait(pending->work);
  } catch (...) {
    forget(*pending);
    throw;
  }
  std::lock_guard lock(mutex_);
  ms += std::exchange(pending->ms, 0);
  return pending->plan;
}

void Plans::forget(const Pending& pending) {
  std::lock_guard lock(mutex_);
  const auto found = plans_.find(pending.key);
  if (found == plans_.end() || found->second.pending.get() != &pending) return;
  order_.erase(found->second.place);
  plans_.erase(found);
}

}  // namespace thunder::cudnn
