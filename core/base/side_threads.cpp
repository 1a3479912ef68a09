#include "base/side_threads.h"

#include <algorithm>
#include <system_error>

#include "base/signals.h"

namespace thunder {

void SideThreads::Work::run() noexcept {
  std::lock_guard alone(mutex_);
  if (!run_) return;
  try {
    run_();
  } catch (...) {
    error_ = std::current_exception();
  }
  run_ = nullptr;
}

SideThreads::~SideThreads() {
  {
    std::lock_guard lock(mutex_);
    queue_.clear();
  }
  for (Worker& w : workers_)
    if (w.thread.joinable()) w.thread.join();
}

std::shared_ptr<SideThreads::Work> SideThreads::begin(std::function<void()> run) {
  auto made = std::make_shared<Work>(std::move(run));
  if (workers_.empty()) return made;
  std::lock_guard lock(mutex_);
  queue_.push_back(made);
  start_worker();
  return made;
}

// Requires: the lock is held. If the system refuses a thread, the thread that waits does the work.
void SideThreads::start_worker() {
  const auto idle = std::find_if(workers_.begin(), workers_.end(), [](const Worker& w) { return !w.running; });
  if (idle == workers_.end()) return;
  if (idle->thread.joinable()) idle->thread.join();
  try {
    const BlockedSignals none;
    idle->thread = std::thread([this, idle] { work(*idle); });
    idle->running = true;
  } catch (const std::system_error&) {
  }
}

bool SideThreads::is_done(Work& work) const {
  const std::unique_lock alone(work.mutex_, std::try_to_lock);
  return alone && !work.run_;
}

void SideThreads::work(Worker& self) noexcept {
  std::unique_lock lock(mutex_);
  while (!queue_.empty()) {
    std::shared_ptr<Work> next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    next->run();
    next = nullptr;
    lock.lock();
  }
  self.running = false;
}

void SideThreads::wait(const std::shared_ptr<Work>& work) {
  {
    std::lock_guard lock(mutex_);
    const auto queued = std::find(queue_.begin(), queue_.end(), work);
    if (queued != queue_.end()) queue_.erase(queued);
  }
  work->run();
  // Written before the lock was given back that run() has taken since.
  if (work->error_) std::rethrow_exception(work->error_);
}

}  // namespace thunder
