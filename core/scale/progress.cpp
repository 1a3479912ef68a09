#include "scale/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/signals.h"

namespace thunder::scale {
namespace {

// For so many rounds in which no task goes on the thread only yields, since most collectives are over by then; later it
// sleeps.
constexpr int kYields = 200;
// Rounds in which a caller's own thread does not even yield: ranks come within a microsecond of each other.
constexpr int kSpins = 64;
constexpr std::chrono::microseconds kSleep{50};
constexpr std::chrono::milliseconds kWatch{5};

class FunctionTask : public Task {
 public:
  explicit FunctionTask(std::function<void()> f) : f_(std::move(f)) {}
  bool step() override { return f_(), true; }

 private:
  std::function<void()> f_;
};

}  // namespace

bool Task::wait_until(Clock::time_point end) {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return is_over_; };
  if (end == Clock::time_point::max())
    over_.wait(lock, over);
  else if (!over_.wait_until(lock, end, over))
    return false;
  if (failed_) std::rethrow_exception(failed_);
  return true;
}

bool Task::run_until(Clock::time_point end) {
  if (!is_over_) {
    std::exception_ptr failed;
    try {
      for (int idle = 0; !step(); went_on_ = false)
        if (went_on_)
          idle = 0;
        else if (idle++ >= kSpins) {
          if (Clock::now() >= end) return false;
          idle < kSpins + kYields ? std::this_thread::yield() : std::this_thread::sleep_for(kSleep);
        }
    } catch (...) {
      failed = std::current_exception();
    }
    finish(failed);
  }
  return wait_until(end);
}

void Task::finish(std::exception_ptr failed) {
  const std::lock_guard lock(mutex_);
  is_over_ = true, failed_ = std::move(failed);
  over_.notify_all();
}

Progress& Progress::get() {
  // Never destroyed: contexts may live longer than static objects.
  static auto* const progress = new Progress;
  return *progress;
}

void Progress::add(const void* owner, std::shared_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable() && !stopping_) {
    const BlockedSignals inherited;  // a host's handlers run on its own threads
    thread_ = std::thread([this] { run_thread(); });
    process_ = ::getpid();
    std::atexit([] { get().stop(); });
  }
  if (stopping_) {
    task->finish(std::make_exception_ptr(Error(Code::failed_precondition, "the process is exiting")));
    return;
  }
  tasks_[owner].push_back(std::move(task));
  more_.notify_one();
}

bool Progress::is_idle(const void* owner) {
  const std::lock_guard lock(mutex_);
  return !tasks_.count(owner);
}

bool Progress::run(const void* owner, std::function<void()> f, Clock::time_point end) {
  const auto task = std::make_shared<FunctionTask>(std::move(f));
  add(owner, task);
  return task->wait_until(end);
}

void Progress::at_exit(std::function<void()> f) {
  const std::lock_guard lock(mutex_);
  at_exit_.push_back(std::move(f));
}

// Whether some task is over, or went on. Requires: the lock is held; it is not while a task steps.
bool Progress::step_all(std::unique_lock<std::mutex>& lock) {
  bool any = false;
  std::vector<std::pair<const void*, std::shared_ptr<Task>>> first;
  for (auto& [owner, tasks] : tasks_) first.emplace_back(owner, tasks.front());
  for (auto& [owner, task] : first) {
    lock.unlock();
    bool over = true;
    std::exception_ptr failed;
    try {
      over = task->step();
    } catch (...) {
      failed = std::current_exception();
    }
    if (over || std::exchange(task->went_on_, false)) any = true;
    if (over) task->finish(failed);
    lock.lock();
    if (!over) continue;
    const auto it = tasks_.find(owner);
    it->second.pop_front();
    if (it->second.empty()) tasks_.erase(it);
  }
  return any;
}

void Progress::run_thread() {
  std::unique_lock lock(mutex_);
  int idle = 0;
  while (!stopping_) {
    lock.unlock();
    for (auto& watch : watches_) watch->step();
    lock.lock();
    if (tasks_.empty()) {
      const auto more = [&] { return stopping_ || !tasks_.empty(); };
      if (watches_.empty())
        more_.wait(lock, more);
      else
        more_.wait_for(lock, kWatch, more);
      idle = 0;
      continue;
    }
    if (step_all(lock)) {
      idle = 0;
      continue;
    }
    lock.unlock();
    if (idle++ < kYields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kSleep);
    lock.lock();
  }
  lock.unlock();
  for (auto& watch : watches_) watch->leave();
  while (!at_exit_.empty()) {
    at_exit_.back()();
    at_exit_.pop_back();
  }
}

void Progress::stop() {
  if (::getpid() != process_) return;  // the thread is the parent's
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    more_.notify_one();
  }
  if (given_up_)
    thread_.detach();
  else
    thread_.join();
}

}  // namespace thunder::scale
